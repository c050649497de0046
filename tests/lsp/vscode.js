// docs/editors/vscode with an editor that is none: vscode.js EXTENSION TKC FOLDER. What VS Code would call is called, on one document.
'use strict';
const Module = require('module');
const assert = require('assert');
const path = require('path');

const [folder, tkc, root] = process.argv.slice(2);
const events = {}, providers = {}, commands = {}, shown = [], waits = new Set();
let published = null, settings = { path: tkc, arguments: [] };
const on = (name) => (f) => { events[name] = f; return { dispose() {} }; };
const provide = (name) => (selector, p) => { providers[name] = p; return { dispose() {} }; };
class Data { constructor(...args) { this.args = args; } }
class Range extends Data {
  get start() { return { line: this.args[0], character: this.args[1] }; }
  get end() { return { line: this.args[2], character: this.args[3] }; }
}
const text = 'field x: real needs_grad;\nfield e: real needs_grad;\nkernel  k() { e += abz(x) * x; }\n';
const document = { uri: { toString: () => 'file:///tmp/a.tk' }, languageId: 'tk', version: 1, getText: () => text };
const vscode = {
  Range, Location: Data, Diagnostic: Data, DiagnosticRelatedInformation: Data, DiagnosticSeverity: { Error: 0, Warning: 1 }, Hover: Data, MarkdownString: Data, DocumentSymbol: Data,
  DocumentHighlight: Data, CompletionItem: Data, SignatureHelp: Data, SignatureInformation: Data, TextEdit: Data, CodeAction: Data, CodeActionKind: { QuickFix: 'quickfix' }, ViewColumn: { Beside: -2 },
  WorkspaceEdit: class { constructor() { this.edits = []; } replace(...e) { this.edits.push(e); } },
  Position: Data, InlayHint: Data, FoldingRange: Data, FoldingRangeKind: { Comment: 1, Imports: 2 }, SemanticTokens: Data, SemanticTokensLegend: Data, SymbolInformation: Data,
  Uri: { parse: (s) => ({ toString: () => s }) },
  workspace: {
    textDocuments: [document], getConfiguration: () => ({ get: (name) => settings[name] }), onDidOpenTextDocument: on('open'), onDidChangeTextDocument: on('change'), onDidSaveTextDocument: on('save'),
    onDidCloseTextDocument: on('close'), onDidChangeConfiguration: on('configuration'),
    onDidChangeWorkspaceFolders: on('folders'), workspaceFolders: [{ uri: { toString: () => `file://${root}` }, name: 'work' }], openTextDocument: async (d) => d,
  },
  window: { activeTextEditor: { document, selection: { active: { line: 2, character: 3 } } }, showTextDocument: async (d) => show(d.content), showWarningMessage: (m) => show(m), showErrorMessage: (m) => show(m) },
  languages: {
    createDiagnosticCollection: () => ({ set: (uri, list) => { published = list; look(); }, clear() {}, dispose() {} }), registerHoverProvider: provide('hover'), registerDefinitionProvider: provide('definition'),
    registerReferenceProvider: provide('references'), registerDocumentHighlightProvider: provide('highlights'), registerCompletionItemProvider: provide('completion'), registerSignatureHelpProvider: provide('signature'),
    registerRenameProvider: provide('rename'), registerInlayHintsProvider: provide('hints'), registerFoldingRangeProvider: provide('folding'),
    registerDocumentSemanticTokensProvider: (selector, p, legend) => { providers.tokens = p; providers.legend = legend; return { dispose() {} }; },
    registerWorkspaceSymbolProvider: (p) => { providers.workspace = p; return { dispose() {} }; },
    registerDocumentSymbolProvider: provide('symbols'), registerDocumentFormattingEditProvider: provide('formatting'), registerCodeActionsProvider: provide('actions'),
  },
  commands: { registerCommand: (name, f) => { commands[name] = f; return { dispose() {} }; } },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

// Waits end when the editor has got what they are for, and not by the clock; a wait without an end is the last that is printed.
function look() {
  for (const wait of waits) if (wait.over()) { waits.delete(wait); wait.end(); }
}
function show(text) {
  shown.push(text);
  look();
}
function until(what, over) {
  console.log(`waits for ${what}`);
  return new Promise((end) => { waits.add({ over, end }); look(); });
}

let complete = false;
process.on('exit', () => { process.exitCode = complete ? 0 : 1; }); // Node also ends when nothing is left that can end a wait
(async () => {
  const manifest = require(path.join(folder, 'package.json'));
  const extension = require(path.join(folder, manifest.main));
  await extension.activate({ subscriptions: [] });
  for (const c of manifest.contributes.commands) assert(commands[c.command], c.command);
  await until('diagnostics', () => published && published.length === 1);
  assert(published[0].code.value === 'E0203' && published[0].code.target.toString().includes('names.md#e0203'), JSON.stringify(published));
  const range = new Range(2, 19, 2, 22);
  const [fix] = await providers.actions.provideCodeActions(document, range, {});
  assert.strictEqual(fix.edit.edits[0][2], 'abs');
  await commands['tkc.showAdjoint']();
  assert(shown.pop().includes('errors'));
  document.version = 2;
  events.change({ document, contentChanges: [{ range, text: 'abs' }] });
  await until('diagnostics', () => published.length === 0);
  const p = { line: 2, character: 23 };
  assert((await providers.hover.provideHover(document, p)).args[0].args[0].includes('x.grad'));
  assert.strictEqual((await providers.definition.provideDefinition(document, p)).args[1].start.line, 0);
  assert.strictEqual((await providers.references.provideReferences(document, p, { includeDeclaration: true })).length, 3);
  assert((await providers.completion.provideCompletionItems(document, p)).some((i) => i.args[0] === 'x' && i.detail.startsWith('field x')));
  assert((await providers.signature.provideSignatureHelp(document, p)).signatures[0].args[0] === 'abs(x)');
  assert.strictEqual((await providers.symbols.provideDocumentSymbols(document)).length, 3);
  assert.strictEqual((await providers.highlights.provideDocumentHighlights(document, p)).length, 3);
  const renamed = await providers.rename.provideRenameEdits(document, p, 'place');
  assert.deepStrictEqual(renamed.edits.map((e) => [e[0].toString(), e[1].args, e[2]]), [['file:///tmp/a.tk', [0, 6, 0, 7], 'place'], ['file:///tmp/a.tk', [2, 23, 2, 24], 'place'], ['file:///tmp/a.tk', [2, 28, 2, 29], 'place']]);
  assert.strictEqual((await providers.rename.prepareRename(document, p)).placeholder, 'x');
  await assert.rejects(providers.rename.provideRenameEdits(document, p, 'for'), /'for' is a word of the language/);
  await assert.rejects(providers.rename.prepareRename(document, { line: 2, character: 0 }), /'kernel' is a word of the language/);
  assert.deepStrictEqual(providers.legend.args[1], ['declaration', 'readonly', 'defaultLibrary', 'active']);
  const coloured = (await providers.tokens.provideDocumentSemanticTokens(document)).args[0];
  assert.deepStrictEqual([...coloured.slice(0, 5)], [0, 6, 1, providers.legend.args[0].indexOf('variable'), 9]);
  const blocks = { uri: { toString: () => 'file:///tmp/blocks.tk' }, languageId: 'tk', version: 1, getText: () => 'field x: real;\nkernel k() {\n    let a = x;\n    x = a;\n}\n' };
  events.open(blocks);
  assert.deepStrictEqual((await providers.hints.provideInlayHints(blocks, new Range(0, 0, 9, 0))).map((h) => [h.args[0].args, h.args[1], h.args[2]]), [[[2, 9], ': f32', 1]]);
  assert.deepStrictEqual((await providers.folding.provideFoldingRanges(blocks, {})).map((r) => r.args), [[1, 3, undefined]]);
  assert.deepStrictEqual((await providers.workspace.provideWorkspaceSymbols('othr')).map((t) => [t.args[0], t.args[1], t.args[2], t.args[3].args[0].toString()]), [['other', 11, 'b.tk', `file://${root}/b.tk`]]);
  const edits = await providers.formatting.provideDocumentFormattingEdits(document, {});
  assert(edits.length === 1 && edits[0].args[1] === 'kernel' && edits[0].args[0].end.character === 7);
  await commands['tkc.showAdjoint']();
  assert(shown.pop().includes('a__k_grad_run'));
  settings.arguments = ['--no-such-option'];
  await commands['tkc.restart']();
  await until('word of the end', () => shown.some((m) => m.includes('--no-such-option')));
  assert.strictEqual(await providers.hover.provideHover(document, p), null);
  settings.path = '/no/such/tkc';
  await commands['tkc.restart']();
  await until('word of no tkc', () => shown.some((m) => m.includes('/no/such/tkc')));
  settings = { path: tkc, arguments: ['-Werror'] };
  await commands['tkc.restart']();
  assert((await providers.hover.provideHover(document, { line: 0, character: 6 })).args[0].args[0].includes('x.grad'));
  await extension.deactivate();
  console.log('ok');
  complete = true;
})().catch((e) => { console.error(e); process.exit(1); });
