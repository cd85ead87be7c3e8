import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.ts';

/** The steps where something can go wrong; `body` is the first line of a mail, `end` the answer to its last dot. */
type Step = 'connect' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body' | 'end';

/** A reply instead of the good one, no reply, a reply byte by byte without an end, or the end of the connection. */
type Act = { readonly reply: string } | 'hang' | 'trickle' | 'close';

type Script = Partial<Record<Step, Act>>;

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it was meant: without the dots that the protocol adds. */
  readonly raw: string;
}

interface FakeSmtpOptions {
  /** What goes wrong at which step. A test may change it while the server runs. */
  readonly script?: Script;
  /** The login that senders need. */
  readonly login?: { readonly user: string; readonly password: string };
  readonly tls?: { readonly mode: 'from_start' | 'starttls'; readonly certificate: Certificate };
  /** What else it can do, such as `SIZE 1000`. */
  readonly extensions?: readonly string[];
}

/** A scripted mail server on 127.0.0.1. */
export class FakeSmtp {
  readonly received: ReceivedMail[] = [];
  /** Every line that came outside of mails, in order. */
  readonly commands: string[] = [];
  /** Mails of which something came. */
  begun = 0;
  connections = 0;
  script: Script;
  /** The same for mails to one address, from `rcpt` on. */
  readonly scripts = new Map<string, Script>();
  readonly options: FakeSmtpOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(options: FakeSmtpOptions) {
    this.options = options;
    this.script = options.script ?? {};
    const greet = (socket: Socket): void => {
      this.connections += 1;
      new Conversation(this, socket).act('connect', '220 fake.test ESMTP');
    };
    const { tls } = options;
    this.#server =
      tls?.mode === 'from_start' ? createTlsServer(tls.certificate, greet) : createServer(greet);
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(options: FakeSmtpOptions = {}): Promise<FakeSmtp> {
    const fake = new FakeSmtp(options);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many clients are connected. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Ends every connection, as a server does that restarts. */
  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.hangUp();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

class Conversation {
  readonly #fake: FakeSmtp;
  #socket: Socket;
  #buffer = '';
  #isLoggedIn = false;
  #from = '';
  #to: string[] = [];
  #mail: string[] | null = null;
  /** Of whom the last RCPT spoke. */
  #recipient = '';

  constructor(fake: FakeSmtp, socket: Socket) {
    this.#fake = fake;
    this.#socket = socket;
    this.#listen(socket);
  }

  act(step: Step, good: string, then: () => void = () => undefined): void {
    const act = this.#actAt(step) ?? { reply: good };
    if (act === 'hang') return;
    if (act === 'close') {
      this.#socket.destroy();
    } else if (act === 'trickle') {
      const timer = setInterval(() => this.#socket.write('2'), 20);
      this.#socket.once('close', () => clearInterval(timer));
    } else {
      this.#socket.write(`${act.reply}\r\n`);
      if (act.reply === good) then();
    }
  }

  #actAt(step: Step): Act | undefined {
    return this.#fake.scripts.get(this.#recipient)?.[step] ?? this.#fake.script[step];
  }

  #listen(socket: Socket): void {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.#buffer += chunk.toString('utf8');
      for (let end = this.#buffer.indexOf('\r\n'); end >= 0; end = this.#buffer.indexOf('\r\n')) {
        const line = this.#buffer.slice(0, end);
        this.#buffer = this.#buffer.slice(end + 2);
        if (this.#mail) this.#mailLine(line, this.#mail);
        else this.#command(line);
      }
    });
  }

  #mailLine(line: string, mail: string[]): void {
    const isFirst = mail.length === 0;
    if (isFirst) this.#fake.begun += 1;
    if (line !== '.') {
      mail.push(line.startsWith('.') ? line.slice(1) : line);
      if (isFirst && this.#actAt('body')) this.act('body', '');
      return;
    }
    // Who said nothing to a mail says nothing to its end.
    if (this.#actAt('body') === 'hang') return;
    const raw = mail.map((one) => `${one}\r\n`).join('');
    this.#mail = null;
    const received = { from: this.#from, to: this.#to, raw };
    const act = this.#actAt('end') ?? 'accept';
    // A server that dies has the mail; one that refuses doesn't.
    if (typeof act === 'string') this.#fake.received.push(received);
    this.act('end', '250 2.0.0 Taken');
  }

  #command(line: string): void {
    this.#fake.commands.push(line);
    switch (line.split(' ')[0]?.toUpperCase()) {
      case 'EHLO':
        return this.act('ehlo', this.#greeting());
      case 'STARTTLS':
        return this.act('starttls', '220 Go', () => this.#secure());
      case 'AUTH':
        return this.#login(line);
      case 'MAIL':
        return this.#sender(line);
      case 'RCPT':
        this.#recipient = addressIn(line);
        return this.act('rcpt', '250 OK', () => this.#to.push(addressIn(line)));
      case 'DATA':
        return this.act('data', '354 Go on', () => {
          this.#mail = [];
        });
      case 'QUIT':
        this.#socket.end('221 Bye\r\n');
        return;
      default:
        this.#socket.write('250 OK\r\n');
    }
  }

  #greeting(): string {
    const { extensions = [], login, tls } = this.#fake.options;
    const offersTls = tls?.mode === 'starttls' && !(this.#socket instanceof TLSSocket);
    const lines = [
      'fake.test',
      ...(offersTls ? ['STARTTLS'] : []),
      ...(login ? ['AUTH PLAIN LOGIN'] : []),
      '8BITMIME',
      ...extensions,
    ];
    return lines
      .map((line, index) => `250${index === lines.length - 1 ? ' ' : '-'}${line}`)
      .join('\r\n');
  }

  #secure(): void {
    const { tls } = this.#fake.options;
    if (!tls) return;
    this.#socket.removeAllListeners('data');
    this.#socket = new TLSSocket(this.#socket, { isServer: true, ...tls.certificate });
    this.#listen(this.#socket);
  }

  #login(line: string): void {
    const { login } = this.#fake.options;
    const [, method, first] = line.split(' ');
    if (method !== 'PLAIN' || first === undefined) {
      this.#socket.write('504 Only PLAIN in one line\r\n');
      return;
    }
    const given = Buffer.from(first, 'base64').toString('utf8');
    this.#isLoggedIn = given === `\0${login?.user}\0${login?.password}`;
    // The worst servers repeat the password.
    const bad = `535 5.7.8 No such login: ${first} ${given.replaceAll('\0', ' ')}`;
    this.act('auth', this.#isLoggedIn ? '235 Welcome' : bad);
  }

  #sender(line: string): void {
    if (this.#fake.options.login && !this.#isLoggedIn) {
      this.#socket.write('530 5.7.0 Log in first\r\n');
      return;
    }
    this.#recipient = '';
    this.act('mail', '250 OK', () => {
      this.#from = addressIn(line);
      this.#to = [];
    });
  }
}

function addressIn(line: string): string {
  return /<([^>]*)>/.exec(line)?.[1] ?? '';
}
