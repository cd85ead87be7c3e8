import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openClient } from '../../../shared/store/remote/client.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import { Person } from '../auth/sign-in/person.ts';
import { Pair } from './pair.ts';

interface Founded {
  readonly person: Person;
  readonly id: string;
  readonly key: string;
}

let pair: Pair;
beforeEach(async () => {
  pair = await Pair.start({ signIn: true });
});
afterEach(() => pair.stop());

/** A person signs in at the first gateway, founds a project and writes to it. */
async function founded(email: string): Promise<Founded> {
  const person = new Person(pair.a, email);
  const made = await person.project();
  const found = { person, id: made.project.id, key: made.api_key };
  await put(pair.a, found, 'first');
  return found;
}

async function put(gateway: TestGateway, { key }: Founded, value: string): Promise<void> {
  const { status, body } = await gateway.call('PUT', '/v1/kv/a', { key, body: value });
  if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body));
}

async function valueAt(gateway: TestGateway, { key }: Founded): Promise<unknown> {
  const { body } = await gateway.call('GET', '/v1/kv/a', { key });
  return body['value'] ?? body;
}

/** What the gateway reads in a person's project. It also writes there, and the person signs in and finds the project. */
async function served(gateway: TestGateway, found: Founded): Promise<unknown> {
  const value = await valueAt(gateway, found);
  await put(gateway, found, `${String(value)}, more`);
  const again = new Person(gateway, found.person.email);
  const projects = await again.projects(await again.confirmed());
  if (!projects.some(({ id }) => id === found.id)) throw new Error('They have no project.');
  return value;
}

/** The second gateway again, after something happened while it was away. */
async function backAgain(meanwhile: () => Promise<void> | void): Promise<TestGateway> {
  await pair.end(pair.b);
  await meanwhile();
  return pair.another('b');
}

/** As if every group were older than a day. */
async function forgetGroups(name: string): Promise<void> {
  const url = pair.shared.server.urlOf(name);
  const client = openClient({ kind: 'remote', url, token: null, mirror: '' });
  await client.execute('DELETE FROM group_log');
  client.close();
}

const databaseOf = ({ id }: Founded): string => id.replace('_', '-');

describe('after people have signed up', () => {
  it('a further gateway with an empty folder starts, and serves their projects', async () => {
    const [ana, ben] = [await founded('ana@example.com'), await founded('ben@example.com')];
    const third = await pair.another('c');
    expect(await served(third, ana)).toBe('first');
    expect(await served(third, ben)).toBe('first');
  });

  it('a gateway whose mirrors went starts again', async () => {
    const ana = await founded('ana@example.com');
    expect(await served(pair.b, ana)).toBe('first');
    const b = await backAgain(() => rmSync(join(pair.folder, 'b', 'mirrors'), { recursive: true }));
    expect(await served(b, ana)).toBe('first, more');
  });

  it('a gateway that was away for longer than the server keeps its log starts again', async () => {
    const ana = await founded('ana@example.com');
    expect(await served(pair.b, ana)).toBe('first');
    const b = await backAgain(async () => {
      const ben = await founded('ben@example.com');
      await put(pair.a, ana, 'meanwhile');
      for (const name of ['svc-control', databaseOf(ana), databaseOf(ben)])
        await forgetGroups(name);
      await put(pair.a, ana, 'second');
    });
    expect(await served(b, ana)).toBe('second');
  });

  it('gateways start again after their server was restored from a backup', async () => {
    const ana = await founded('ana@example.com');
    expect(await served(pair.b, ana)).toBe('first');
    const [server, backup] = [join(pair.folder, 'libsql-server'), join(pair.folder, 'backup')];
    for (const gateway of [pair.a, pair.b]) await pair.end(gateway);
    await pair.shared.restart(() => cpSync(server, backup, { recursive: true }));
    const a = await pair.another('a');
    await put(a, ana, 'lost');
    await pair.end(a);
    await pair.shared.restart(() => {
      rmSync(server, { recursive: true });
      cpSync(backup, server, { recursive: true });
    });
    expect(await served(await pair.another('a'), ana)).toBe('first, more');
    expect(await served(await pair.another('b'), ana)).toBe('first, more, more');
  });
});
