import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { required } from '../../helpers/require.ts';
import { FakeGateway } from './fake-gateway.ts';
import { Machine } from './machine.ts';
import { hasTerminals, Terminal } from './terminal.ts';

const CTRL_C = '\u0003';
const SHOWS_TERMINALS = required(
  'signing in on a terminal',
  hasTerminals(),
  'the `script` of util-linux is missing',
);

let gateway: FakeGateway;
let machine: Machine;
let terminal: Terminal | null = null;
beforeEach(async () => {
  gateway = await FakeGateway.start();
  machine = new Machine();
});
afterEach(() => {
  terminal?.close();
  gateway.close();
  machine.remove();
});

function confirm(): void {
  for (const login of gateway.logins.values()) login.state = 'confirmed';
}

describe.runIf(SHOWS_TERMINALS)('svc login on a terminal', () => {
  it('asks for what is missing, and says what comes next', async () => {
    gateway.addProject('acme');
    gateway.addProject('books');
    gateway.confirmsAtOnce = false;
    terminal = new Terminal(machine.home, ['login']);
    await terminal.shows('Gateway address:');
    terminal.type(`${gateway.url}\n`);
    await terminal.shows('Your email address:');
    terminal.type('ana\n');
    await terminal.shows('"ana" isn\'t an email address.');
    terminal.type('ana@example.com\n');
    await terminal.shows('    ENJOY-RIVER-42');
    await terminal.shows('Waiting for you to confirm ENJOY-RIVER-42');
    confirm();
    await terminal.shows('Which one?');
    terminal.type('2\n');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toContain(
      `Signed in to The books (books) at ${gateway.url} as a***@example.com.`,
    );
    expect(terminal.text).toContain('  svc up      keep a replica of the project on this machine');
    const { current, profiles } = machine.credentials;
    expect(current).toBe('books');
    expect(terminal.text).not.toContain(profiles['books']?.api_key);
  });

  it('is interrupted by Ctrl-C while it waits, and goes on the next time', async () => {
    gateway.confirmsAtOnce = false;
    const argv = ['login', '--gateway', gateway.url, '--email', 'ana@example.com'];
    terminal = new Terminal(machine.home, argv);
    await terminal.shows('Waiting for you to confirm');
    terminal.type(CTRL_C);
    expect(await terminal.ended()).toBe(130);
    expect(terminal.text).toContain('The sign-in stays open for 15 min');
    confirm();
    terminal = new Terminal(machine.home, argv);
    await terminal.shows('Name of the new project');
    terminal.type('Web shop\n');
    expect(await terminal.ended()).toBe(0);
    expect(machine.credentials.current).toBe('web-shop');
    expect(gateway.count('POST /v1/auth/start')).toBe(1);
  });

  it('is interrupted by Ctrl-C at a question', async () => {
    terminal = new Terminal(machine.home, ['login', '--gateway', gateway.url]);
    await terminal.shows('Your email address:');
    terminal.type(CTRL_C);
    expect(await terminal.ended()).toBe(130);
    expect(gateway.count('POST /v1/auth/start')).toBe(0);
  });

  it('asks nothing where JSON is wanted', async () => {
    terminal = new Terminal(machine.home, ['login', '--gateway', gateway.url, '--json']);
    expect(await terminal.ended()).toBe(2);
    expect(terminal.text).toContain('--email is missing.');
  });
});
