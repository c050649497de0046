// JSON-RPC with a language server over its standard input and output. Node alone: nothing of npm.
'use strict';
const { spawn } = require('child_process');

class Connection {
  // onNotification(method, params); onEnd(text): the server is gone, and what it said
  constructor(command, args, onNotification, onEnd) {
    this.number = 0;
    this.waiting = new Map();
    this.buffer = Buffer.alloc(0);
    this.ended = false;
    this.errors = '';
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const end = (text) => {
      if (this.ended) return;
      this.ended = true;
      for (const w of this.waiting.values()) w.reject(new Error('the language server ended'));
      this.waiting.clear();
      onEnd(text + this.errors);
    };
    this.process.on('error', (e) => end(`${command}: ${e.message}`));
    this.process.on('close', (status) => end(`${command} ended with status ${status}. `));
    this.process.stdin.on('error', () => {});
    this.process.stderr.on('data', (d) => { this.errors = (this.errors + d).slice(-2000); });
    this.process.stdout.on('data', (d) => this.receive(d, onNotification));
  }

  send(message) {
    if (this.ended) return;
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  // token: of vscode, to cancel
  request(method, params, token) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      if (this.ended) {
        reject(new Error('the language server is not running'));
        return;
      }
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
      if (token) token.onCancellationRequested(() => this.notify('$/cancelRequest', { id }));
    });
  }

  receive(data, onNotification) {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const head = this.buffer.indexOf('\r\n\r\n');
      const length = head < 0 ? null : /Content-Length: (\d+)/i.exec(this.buffer.toString('latin1', 0, head));
      if (!length || this.buffer.length < head + 4 + Number(length[1])) return;
      const end = head + 4 + Number(length[1]);
      const message = JSON.parse(this.buffer.toString('utf8', head + 4, end));
      this.buffer = this.buffer.subarray(end);
      const w = this.waiting.get(message.id);
      if (message.method) {
        onNotification(message.method, message.params);
      } else if (w) {
        this.waiting.delete(message.id);
        if (message.error) w.reject(Object.assign(new Error(message.error.message), { code: message.error.code }));
        else w.resolve(message.result);
      }
    }
  }

  async stop() {
    if (this.ended) return;
    await this.request('shutdown', null).catch(() => {});
    this.notify('exit', null);
  }
}

module.exports = { Connection };
