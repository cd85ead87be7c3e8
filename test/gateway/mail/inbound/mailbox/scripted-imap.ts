import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** As little of an IMAP server as a mailbox needs, for what no real one can be brought to do. */
export class ScriptedImap {
  /** By their UIDs, in ascending order. */
  readonly mails = new Map<number, string>();
  readonly moved: number[] = [];
  uidValidity = 1;
  /** Told in the middle of the first answer with the bytes of mails. */
  between = '';
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<ScriptedImap> {
    const imap = new ScriptedImap();
    await new Promise<void>((resolve) => {
      imap.#server.listen(0, '127.0.0.1', resolve);
    });
    return imap;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.write('* OK ready\r\n');
    let [pending, idling] = ['', ''];
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      const lines = pending.split('\r\n');
      pending = lines.pop() ?? '';
      for (const line of lines) {
        const [tag = '', ...words] = line.split(' ');
        if (tag === 'DONE') socket.write(`${idling} OK\r\n`);
        else if (words[0] === 'IDLE') {
          idling = tag;
          socket.write('+ idling\r\n');
        } else socket.write(`${this.#answer(words)}${tag} OK done\r\n`, 'latin1');
      }
    });
  }

  #answer(words: readonly string[]): string {
    const [command, , range = '', ...items] = words;
    if (command === 'CAPABILITY') return '* CAPABILITY IMAP4rev1 IDLE MOVE UIDPLUS\r\n';
    if (command === 'LIST') return '* LIST () "/" INBOX\r\n';
    if (command === 'SELECT') return this.#selected();
    if (command !== 'UID') return '';
    if (words[1] === 'SEARCH') return `* SEARCH ${[...this.mails.keys()].join(' ')}\r\n`;
    const uids = this.#uidsIn(range);
    return words[1] === 'FETCH' ? this.#fetched(uids, items.join(' ')) : this.#move(uids);
  }

  #selected(): string {
    const uidNext = Math.max(0, ...this.mails.keys()) + 1;
    return [
      `* ${this.mails.size} EXISTS`,
      `* OK [UIDVALIDITY ${this.uidValidity}] yes`,
      `* OK [UIDNEXT ${uidNext}] yes`,
      '',
    ].join('\r\n');
  }

  #uidsIn(range: string): number[] {
    const spans = range.split(',').map((span) => span.split(':').map(Number));
    return [...this.mails.keys()].filter((uid) =>
      spans.some(([from = 0, to = from]) => uid >= from && uid <= to),
    );
  }

  #fetched(uids: readonly number[], items: string): string {
    const answers = uids.map((uid) => {
      const raw = this.mails.get(uid) ?? '';
      const shown = items.includes('HEADER') ? raw.slice(0, raw.indexOf('\r\n\r\n') + 4) : raw;
      const section = items.includes('HEADER') ? 'BODY[HEADER]' : 'BODY[]';
      const body = `${section}<0> {${shown.length}}\r\n${shown}`;
      const data = items.includes('BODY') ? body : `RFC822.SIZE ${raw.length} FLAGS ()`;
      return `* ${this.#numberOf(uid)} FETCH (UID ${uid} ${data})\r\n`;
    });
    if (items.includes('BODY')) {
      answers.splice(1, 0, this.between);
      this.between = '';
    }
    return answers.join('');
  }

  #move(uids: readonly number[]): string {
    const lines = uids.map((uid) => {
      const line = `* ${this.#numberOf(uid)} EXPUNGE\r\n`;
      this.mails.delete(uid);
      this.moved.push(uid);
      return line;
    });
    return lines.join('');
  }

  #numberOf(uid: number): number {
    return [...this.mails.keys()].indexOf(uid) + 1;
  }
}
