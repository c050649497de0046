// tkc in VS Code: the language server `tkc --lsp` behind the editor's own interfaces.
'use strict';
const vscode = require('vscode');
const { Connection } = require('./rpc.js');

const LANGUAGE = { language: 'tk' };
let connection = null;
let diagnostics = null;
let ready = null;

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
  ready = now.request('initialize', { processId: process.pid, rootUri: null, capabilities: { general: { positionEncodings: ['utf-16'] } } });
  await ready;
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
  context.subscriptions.push(
    diagnostics,
    vscode.workspace.onDidOpenTextDocument(opened),
    vscode.workspace.onDidChangeTextDocument(changed),
    vscode.workspace.onDidSaveTextDocument((d) => connection && d.languageId === 'tk' && connection.notify('textDocument/didSave', { textDocument: { uri: d.uri.toString() } })),
    vscode.workspace.onDidCloseTextDocument((d) => connection && d.languageId === 'tk' && connection.notify('textDocument/didClose', { textDocument: { uri: d.uri.toString() } })),
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
  );
  await start().catch(() => {});
}

module.exports = { activate, deactivate: stop };
