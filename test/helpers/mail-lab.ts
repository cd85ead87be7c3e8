import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createTransport } from 'nodemailer';
import { selfSigned } from './certificate.ts';
import { FakeSmtp } from './fake-smtp.ts';
import {
  dovecotSettings,
  lmtpSocket,
  Maildir,
  PASSWORD,
  type DovecotConfig,
} from './mail-lab/dovecot.ts';
import {
  dkimRecord,
  dnsmasqSettings,
  makePeopleKey,
  PEOPLE_SELECTOR,
  POLICIES,
  type TxtRecord,
} from './mail-lab/names.ts';
import { CATCH_ALL, mainSettings, services, signerSettings } from './mail-lab/postfix.ts';
import { Program } from './mail-lab/program.ts';
import { findProgram, freePort } from './programs.ts';
import { required } from './require.ts';

const POSTFIX = 'postfix';
const POSTFIX_MASTER = '/usr/lib/postfix/sbin/master';
const PROGRAMS = [POSTFIX, 'opendkim', 'dovecot', 'dnsmasq'];
const LOGS = ['postfix.log', 'master.out', 'dovecot.log', 'dovecot.out', 'opendkim.out'];

interface MailLabOptions {
  /** Where folders stand below the inbox: `INBOX.` */
  readonly folderPrefix?: string;
  /** What the IMAP server says it can do; everything it can when left out. */
  readonly imapCapability?: string;
}

/** Whether the mail servers are installed and can run; if not, it prints a line that says what is skipped. */
export function hasMailLab(): boolean {
  const missing = PROGRAMS.filter((name) => findProgram(name) === null);
  const why = missing.length > 0 ? `not installed: ${missing.join(', ')}` : 'they need root';
  return required('mail servers', missing.length === 0 && process.getuid?.() === 0, why);
}

/**
 * Real mail servers on ports of 127.0.0.1, in a temporary folder that goes with them. Postfix takes mail and OpenDKIM signs
 * what people.test sends. Whatever goes to inbox.test lands in one mailbox of Dovecot, with the recipient it was for in
 * X-Original-To; users of people.test have a mailbox each. bounce.test is relayed to a server that refuses every recipient,
 * so that Postfix writes reports. Dnsmasq answers for these domains and no other.
 */
export class MailLab {
  /** Refuses every recipient, until a test changes its script. */
  readonly bouncer: FakeSmtp;
  /** Who vouches for the IMAP server, as PEM. */
  readonly ca: string;
  readonly smtpPort: number;
  readonly imapPort: number;
  readonly imapsPort: number;
  readonly #folder: string;
  readonly #dnsPort: number;
  readonly #programs = new Map<string, Program>();
  readonly #mailboxes = new Map<string, Maildir>();
  readonly #records: TxtRecord[] = [...POLICIES];

  private constructor(folder: string, bouncer: FakeSmtp, ports: readonly number[]) {
    [this.smtpPort = 0, this.imapPort = 0, this.imapsPort = 0, this.#dnsPort = 0] = ports;
    this.bouncer = bouncer;
    this.#folder = folder;
    const { key, cert } = selfSigned('127.0.0.1');
    this.#write('key.pem', key);
    this.#write('cert.pem', cert);
    this.ca = cert;
  }

  static async start(options: MailLabOptions = {}): Promise<MailLab> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-mail-lab-'));
    // Each server drops to its own user.
    chmodSync(folder, 0o755);
    const ports: number[] = [];
    while (ports.length < 4) ports.push(await freePort());
    const bouncer = await FakeSmtp.start({
      script: { rcpt: { reply: '550 5.1.1 No such user here' } },
    });
    const lab = new MailLab(folder, bouncer, ports);
    try {
      lab.#writeSettings(options);
      await Promise.all([lab.#startNames(), lab.startDovecot(), lab.#startSigner()]);
      await lab.#startPostfix();
      return lab;
    } catch (error) {
      const logs = lab.logs();
      await lab.stop();
      throw new Error(`The mail servers do not start.\n${logs}`, { cause: error });
    }
  }

  /** For SVC_SMTP_URL. */
  get smtpUrl(): string {
    return `smtp://127.0.0.1:${this.smtpPort}`;
  }

  /** For SVC_IMAP_URL: the mailbox of inbox.test. */
  get imapUrl(): string {
    const [user, password] = [encodeURIComponent(this.user), encodeURIComponent(this.password)];
    return `imap://${user}:${password}@127.0.0.1:${this.imapPort}`;
  }

  get user(): string {
    return CATCH_ALL;
  }

  get password(): string {
    return PASSWORD;
  }

  /** As `dns.Resolver.setServers` takes them. */
  get dnsServers(): string[] {
    return [`127.0.0.1:${this.#dnsPort}`];
  }

  /** Hands a mail to Postfix. Resolves when it has taken it. */
  async send(mail: {
    readonly from: string;
    readonly to: string | readonly string[];
    readonly raw: string;
  }): Promise<void> {
    const transport = createTransport({ host: '127.0.0.1', port: this.smtpPort, ignoreTLS: true });
    try {
      const envelope = { from: mail.from, to: [mail.to].flat() };
      await transport.sendMail({ envelope, raw: mail.raw });
    } finally {
      transport.close();
    }
  }

  /** Puts mails into a mailbox, past Postfix. */
  append(raw: string | ((index: number) => string), count = 1, user = CATCH_ALL): void {
    const mailbox = this.#mailbox(user);
    for (let index = 0; index < count; index += 1) {
      mailbox.add(typeof raw === 'string' ? raw : raw(index));
    }
  }

  /** The mails of a folder as they lie there, in no order; the inbox when it is not named. */
  mails(folder = '', user = CATCH_ALL): string[] {
    return this.#mailbox(user).mails(folder);
  }

  /** Makes it impossible to create a folder. */
  obstruct(folder: string, user = CATCH_ALL): void {
    this.#mailbox(user).obstruct(folder);
  }

  /** Publishes the DKIM key of inbox.test. */
  async publishKey(selector: string, publicPem: string): Promise<void> {
    const record = dkimRecord(selector, 'inbox.test', publicPem);
    this.#records.push(record);
    await this.#end('dnsmasq');
    await this.#startNames();
  }

  async restartDovecot(): Promise<void> {
    await this.stopDovecot();
    await this.startDovecot();
  }

  async stopDovecot(): Promise<void> {
    await this.#end('dovecot');
  }

  async startDovecot(): Promise<void> {
    const doors = [this.imapPort, this.imapsPort, lmtpSocket(this.#folder)];
    await this.#start(['dovecot', '-F', '-c', join(this.#folder, 'dovecot.conf')], doors);
  }

  /** All mails get other UIDs, as after a mailbox was restored from a copy. */
  async newUidValidity(user = CATCH_ALL): Promise<void> {
    await this.#end('dovecot');
    this.#mailbox(user).forgetUids();
    await this.startDovecot();
  }

  /** What the servers wrote down. */
  logs(): string {
    return LOGS.map((name) => `${name}:\n${this.#read(name)}`).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#programs.values()].map((program) => program.kill()));
    await this.bouncer.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #writeSettings({ folderPrefix = '', imapCapability }: MailLabOptions): void {
    const folder = this.#folder;
    for (const name of ['postfix', 'postfix-queue', 'postfix-data', 'vmail', 'milter']) {
      mkdirSync(join(folder, name));
    }
    execFileSync('chown', ['mail:mail', join(folder, 'vmail')]);
    execFileSync('chown', ['postfix', join(folder, 'postfix-data')]);
    const dovecot: DovecotConfig = {
      folder,
      imapPort: this.imapPort,
      imapsPort: this.imapsPort,
      prefix: folderPrefix,
      capability: imapCapability ?? null,
    };
    this.#write('dovecot.conf', dovecotSettings(dovecot));
    const key = makePeopleKey();
    this.#records.push(key.record);
    this.#write('people.pem', key.privatePem);
    const milterSocket = this.#milterSocket;
    const keyFile = join(folder, 'people.pem');
    const signer = { milterSocket, keyFile, selector: PEOPLE_SELECTOR };
    this.#write('opendkim.conf', signerSettings(signer));
    const { smtpPort } = this;
    const bouncerPort = this.bouncer.port;
    this.#write('postfix/main.cf', mainSettings({ folder, smtpPort, bouncerPort, milterSocket }));
    this.#write('postfix/master.cf', services(smtpPort));
  }

  get #milterSocket(): string {
    return join(this.#folder, 'milter', 'socket');
  }

  async #startNames(): Promise<void> {
    const settings = join(this.#folder, 'dnsmasq.conf');
    writeFileSync(settings, dnsmasqSettings(this.#dnsPort, this.#records));
    await this.#start(['dnsmasq', '-d', '-C', settings], [this.#dnsPort]);
  }

  async #startSigner(): Promise<void> {
    const settings = join(this.#folder, 'opendkim.conf');
    await this.#start(['opendkim', '-f', '-x', settings], [this.#milterSocket]);
  }

  async #startPostfix(): Promise<void> {
    const settings = join(this.#folder, 'postfix');
    // Makes the folders of the queue. What `postfix start-fg` starts would not end with it.
    execFileSync(POSTFIX, ['-c', settings, 'check'], { stdio: 'pipe' });
    await this.#start([POSTFIX_MASTER, '-c', settings, '-d'], [this.smtpPort]);
  }

  async #start(command: readonly [string, ...string[]], doors: (number | string)[]): Promise<void> {
    const name = basename(command[0]);
    const log = join(this.#folder, `${name}.out`);
    this.#programs.set(name, await Program.start(command, { log, doors }));
  }

  async #end(name: string): Promise<void> {
    await this.#programs.get(name)?.end();
    this.#programs.delete(name);
  }

  #mailbox(user: string): Maildir {
    const known = this.#mailboxes.get(user) ?? new Maildir(join(this.#folder, 'vmail', user));
    this.#mailboxes.set(user, known);
    return known;
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text, { mode: 0o644 });
  }

  #read(name: string): string {
    try {
      return readFileSync(join(this.#folder, name), 'utf8');
    } catch {
      return '';
    }
  }
}
