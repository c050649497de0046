// tkc in VS Code: the language server `tkc --lsp` behind the editor's own interfaces.
'use strict';
const vscode = require('vscode');
const { Connection } = require('./rpc.js');

const LANGUAGE = { language: 'tk' };
let connection = null;
let diagnostics = null;
let ready = null;
let subscriptions = [];
let coloured = false;

// ---- between the protocol and the editor ----

const range = (r) => new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
const position = (p) => ({ line: p.line, character: p.character });
const location = (l) => new vscode.Location(vscode.Uri.parse(l.uri), range(l.range));
const at = (document, p) => ({ textDocument: { uri: document.uri.toString() }, position: position(p) });

function diagnostic(d) {
  const severity = d.severity === 1 ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const made = new vscode.Diagnostic(range(d.range), d.message, severity);
  made.source = d.source;
  made.code = d.codeDescription ? { value: d.code, target: vscode.Uri.parse(d.codeDescription.href) } : d.code;
  made.relatedInformation = (d.relatedInformation || []).map((r) => new vscode.DiagnosticRelatedInformation(location(r.location), r.message));
  return made;
}

function symbol(s) {
  const made = new vscode.DocumentSymbol(s.name, s.detail || '', s.kind - 1, range(s.range), range(s.selectionRange));
  made.children = (s.children || []).map(symbol);
  return made;
}

// ---- the server ----

function options() {
  return vscode.workspace.getConfiguration('tkc');
}

async function start() {
  const now = new Connection(options().get('path', 'tkc'), ['--lsp', ...options().get('arguments', [])], (method, params) => {
    if (method === 'textDocument/publishDiagnostics' && diagnostics)
      diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnostic));
  }, (why) => {
    if (connection !== now) return;
    connection = null;
    if (diagnostics) diagnostics.clear();
    vscode.window.showErrorMessage(`tkc: ${why.trim()} The setting tkc.path says where tkc is; "tkc: Restart the language server" starts it again.`);
  });
  connection = now;
  const workspaceFolders = (vscode.workspace.workspaceFolders || []).map((f) => ({ uri: f.uri.toString(), name: f.name }));
  const rootUri = workspaceFolders.length ? workspaceFolders[0].uri : null;
  ready = now.request('initialize', { processId: process.pid, rootUri, workspaceFolders, capabilities: { general: { positionEncodings: ['utf-16'] } } });
  const { capabilities } = await ready;
  colour(capabilities.semanticTokensProvider.legend);
  now.notify('initialized', {});
  vscode.workspace.textDocuments.forEach(opened);
}

async function stop() {
  const old = connection;
  connection = null;
  if (old) await old.stop();
}

function opened(document) {
  if (connection && document.languageId === 'tk')
    connection.notify('textDocument/didOpen', { textDocument: { uri: document.uri.toString(), languageId: 'tk', version: document.version, text: document.getText() } });
}

function changed(event) {
  if (!connection || event.document.languageId !== 'tk' || !event.contentChanges.length) return;
  connection.notify('textDocument/didChange', {
    textDocument: { uri: event.document.uri.toString(), version: event.document.version },
    contentChanges: event.contentChanges.map((c) => ({ range: { start: position(c.range.start), end: position(c.range.end) }, text: c.text })),
  });
}

// An answer, or null where there is none: the editor shows nothing then.
async function ask(method, params, token) {
  if (!connection) return null;
  try {
    await ready;
    return connection && await connection.request(method, params, token);
  } catch (e) {
    return null;
  }
}

// ---- what the editor asks ----

async function hover(document, p, token) {
  const h = await ask('textDocument/hover', at(document, p), token);
  return h && new vscode.Hover(new vscode.MarkdownString(h.contents.value), h.range && range(h.range));
}

async function definition(document, p, token) {
  const l = await ask('textDocument/definition', at(document, p), token);
  return l && location(l);
}

async function references(document, p, context, token) {
  const list = await ask('textDocument/references', { ...at(document, p), context }, token);
  return list && list.map(location);
}

async function highlights(document, p, token) {
  const list = await ask('textDocument/documentHighlight', at(document, p), token);
  return list && list.map((h) => new vscode.DocumentHighlight(range(h.range)));
}

async function completion(document, p, token) {
  const list = await ask('textDocument/completion', at(document, p), token);
  return list && list.items.map((i) => {
    const made = new vscode.CompletionItem(i.label, i.kind - 1);
    made.detail = i.detail;
    made.documentation = i.documentation;
    return made;
  });
}

async function signature(document, p, token) {
  const s = await ask('textDocument/signatureHelp', at(document, p), token);
  if (!s) return null;
  const made = new vscode.SignatureHelp();
  made.signatures = s.signatures.map((one) => new vscode.SignatureInformation(one.label, one.documentation));
  made.activeSignature = s.activeSignature;
  made.activeParameter = s.activeParameter;
  return made;
}

async function symbols(document, token) {
  const list = await ask('textDocument/documentSymbol', { textDocument: { uri: document.uri.toString() } }, token);
  return list && list.map(symbol);
}

async function formatting(document, _options, token) {
  const list = await ask('textDocument/formatting', { textDocument: { uri: document.uri.toString() }, options: {} }, token);
  return list && list.map((e) => new vscode.TextEdit(range(e.range), e.newText));
}

async function actions(document, r, _context, token) {
  const list = await ask('textDocument/codeAction', { textDocument: { uri: document.uri.toString() }, range: { start: position(r.start), end: position(r.end) }, context: { diagnostics: [] } }, token);
  return list && list.map((a) => {
    const made = new vscode.CodeAction(a.title, vscode.CodeActionKind.QuickFix);
    made.edit = new vscode.WorkspaceEdit();
    for (const [uri, edits] of Object.entries(a.edit.changes))
      for (const e of edits) made.edit.replace(vscode.Uri.parse(uri), range(e.range), e.newText);
    made.isPreferred = a.isPreferred;
    return made;
  });
}

// A refusal is shown: the editor takes it from the error.
async function rename(document, p, newName, token) {
  if (!connection) return null;
  await ready;
  const edit = await connection.request('textDocument/rename', { ...at(document, p), newName }, token);
  const made = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(edit.changes))
    for (const e of edits) made.replace(vscode.Uri.parse(uri), range(e.range), e.newText);
  return made;
}

async function prepareRename(document, p, token) {
  if (!connection) return null;
  await ready;
  const found = await connection.request('textDocument/prepareRename', at(document, p), token);
  return { range: range(found.range), placeholder: found.placeholder };
}

async function hints(document, r, token) {
  const list = await ask('textDocument/inlayHint', { textDocument: { uri: document.uri.toString() }, range: { start: position(r.start), end: position(r.end) } }, token);
  return list && list.map((h) => new vscode.InlayHint(new vscode.Position(h.position.line, h.position.character), h.label, h.kind));
}

async function folding(document, _context, token) {
  const kinds = { comment: vscode.FoldingRangeKind.Comment, imports: vscode.FoldingRangeKind.Imports };
  const list = await ask('textDocument/foldingRange', { textDocument: { uri: document.uri.toString() } }, token);
  return list && list.map((f) => new vscode.FoldingRange(f.startLine, f.endLine, kinds[f.kind]));
}

async function tokens(document, token) {
  const t = await ask('textDocument/semanticTokens/full', { textDocument: { uri: document.uri.toString() } }, token);
  return t && new vscode.SemanticTokens(new Uint32Array(t.data));
}

async function workspaceSymbols(query, token) {
  const list = await ask('workspace/symbol', { query }, token);
  return list && list.map((s) => new vscode.SymbolInformation(s.name, s.kind - 1, s.containerName, location(s.location)));
}

// Once a server has said what its numbers stand for.
function colour(legend) {
  if (coloured) return;
  coloured = true;
  const l = new vscode.SemanticTokensLegend(legend.tokenTypes, legend.tokenModifiers);
  subscriptions.push(vscode.languages.registerDocumentSemanticTokensProvider(LANGUAGE, { provideDocumentSemanticTokens: tokens }, l));
}

async function showAdjoint() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== 'tk') return;
  const shown = await ask('tkc/showAdjoint', at(editor.document, editor.selection.active));
  if (!shown || shown.error) {
    vscode.window.showWarningMessage(`tkc: ${shown ? shown.error : 'the language server does not answer'}`);
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: 'c', content: shown.text });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
}

async function activate(context) {
  diagnostics = vscode.languages.createDiagnosticCollection('tkc');
  const l = vscode.languages;
  subscriptions = context.subscriptions;
  context.subscriptions.push(
    diagnostics,
    vscode.workspace.onDidOpenTextDocument(opened),
    vscode.workspace.onDidChangeTextDocument(changed),
    vscode.workspace.onDidSaveTextDocument((d) => connection && d.languageId === 'tk' && connection.notify('textDocument/didSave', { textDocument: { uri: d.uri.toString() } })),
    vscode.workspace.onDidCloseTextDocument((d) => connection && d.languageId === 'tk' && connection.notify('textDocument/didClose', { textDocument: { uri: d.uri.toString() } })),
    vscode.workspace.onDidChangeWorkspaceFolders(() => stop().then(start).catch(() => {})),
    vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration('tkc') && stop().then(start).catch(() => {})),
    vscode.commands.registerCommand('tkc.showAdjoint', showAdjoint),
    vscode.commands.registerCommand('tkc.restart', () => stop().then(start).catch(() => {})),
    l.registerHoverProvider(LANGUAGE, { provideHover: hover }),
    l.registerDefinitionProvider(LANGUAGE, { provideDefinition: definition }),
    l.registerReferenceProvider(LANGUAGE, { provideReferences: references }),
    l.registerDocumentHighlightProvider(LANGUAGE, { provideDocumentHighlights: highlights }),
    l.registerCompletionItemProvider(LANGUAGE, { provideCompletionItems: completion }, '.', ':'),
    l.registerSignatureHelpProvider(LANGUAGE, { provideSignatureHelp: signature }, '(', ','),
    l.registerDocumentSymbolProvider(LANGUAGE, { provideDocumentSymbols: symbols }),
    l.registerDocumentFormattingEditProvider(LANGUAGE, { provideDocumentFormattingEdits: formatting }),
    l.registerCodeActionsProvider(LANGUAGE, { provideCodeActions: actions }),
    l.registerRenameProvider(LANGUAGE, { provideRenameEdits: rename, prepareRename }),
    l.registerInlayHintsProvider(LANGUAGE, { provideInlayHints: hints }),
    l.registerFoldingRangeProvider(LANGUAGE, { provideFoldingRanges: folding }),
    l.registerWorkspaceSymbolProvider({ provideWorkspaceSymbols: workspaceSymbols }),
  );
  await start().catch(() => {});
}

module.exports = { activate, deactivate: stop };
