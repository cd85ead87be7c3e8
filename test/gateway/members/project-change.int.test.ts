import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';
import { Person } from '../auth/sign-in/person.ts';
import { ChangeStream } from '../replica/change-stream.ts';
import type { WebVisitor } from '../web/inbox/web-visitor.ts';
import { Team } from './team.ts';
import { askedAgain } from '../../helpers/asked-again.ts';

let team: Team;
let ana: WebVisitor;

beforeEach(async () => {
  team = await Team.found();
  ana = await team.owner();
});
afterEach(() => team.stop());

const formAt = (): string => `${team.page('members')}?project=1`;

async function submit(fields: Record<string, string>, visitor = ana) {
  await visitor.get(formAt());
  return visitor.post(formAt(), { fields });
}

/** Presses Approve on the page of a request, and confirms. */
async function approve(requestId: string): Promise<void> {
  const path = team.page(`requests/${requestId}`);
  await ana.get(path);
  const asked = await ana.post(path, { fields: { verb: 'approve' } });
  const confirm = await ana.get(asked.location ?? '');
  const [, step = ''] = /name="confirm" value="([^"]*)"/.exec(confirm.html) ?? [];
  await ana.post(path, { fields: { confirm: step } });
}

function askToRename() {
  return team.call('PUT', '/v1/project', { name: 'Web shop' });
}

async function nameNow(): Promise<string> {
  const { body } = await team.call<{ project: { name: string } }>('GET', '/v1/whoami');
  return body.project.name;
}

/** What is left of the project on the disk and in the control database. */
async function remains(): Promise<unknown[]> {
  const { gateway, projectId } = team;
  const listed = (await gateway.gateway.operator.list(100, undefined)).items;
  const folder = join(gateway.folder, 'projects', projectId);
  return [...listed.filter(({ id }) => id === projectId), ...(existsSync(folder) ? [folder] : [])];
}

async function untilGone(): Promise<void> {
  await expect.poll(remains).toEqual([]);
}

describe('a new name of the project', () => {
  it('is given at once from an owner’s browser, and the slug stays', async () => {
    expect((await submit({ act: 'rename', name: 'Web shop' })).status).toBe(303);
    await expect.poll(nameNow).toBe('Web shop');
    expect((await team.call('GET', '/v1/whoami')).body).toMatchObject({
      project: { id: team.projectId, slug: 'shop', name: 'Web shop' },
    });
    const { items } = await team.gateway.gateway.operator.list(100, undefined);
    expect(items.map(({ name }) => name)).toContain('Web shop');
  });

  it('asked for with a key is given once an owner approves, and asked only once', async () => {
    const { body } = await askToRename();
    expect(body).toMatchObject({ project: { slug: 'shop', name: await nameNow() } });
    expect((await askToRename()).body['request_id']).toBe(body['request_id']);
    await approve(String(body['request_id']));
    await expect.poll(nameNow).toBe('Web shop');
  });

  it('is not empty', async () => {
    const { status, body } = await team.call('PUT', '/v1/project', { name: ' ' });
    expect([status, body.error?.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect((await submit({ act: 'rename', name: ' ' })).status).toBe(400);
  });
});

describe('a deletion', () => {
  it('from an owner’s browser ends everything at once and leaves nothing', async () => {
    const source = { type: 'webhook', name: 'orders', verification: 'none' };
    const { body: made } = await team.call<{ url: string }>('POST', '/v1/sources', source);
    await team.call('PUT', '/v1/kv/greeting', { value: 'hello' });
    const wait = askedAgain(() => team.call('GET', '/v1/inbox/wait?timeout_seconds=50'));
    const stream = await ChangeStream.open(team.gateway.url, team.key);
    const deleted = await submit({ act: 'delete', typed: 'Shop' });
    expect(deleted.status).toBe(400);
    const right = await submit({ act: 'delete', typed: await nameNow() });
    expect([right.status, right.location]).toEqual([303, '/ui']);
    expect((await team.call('GET', '/v1/whoami')).status).toBe(401);
    // Or, asked again once the project has gone, a key that nobody knows.
    expect(['KEY_REVOKED', 'UNAUTHENTICATED']).toContain((await wait).body.error?.code);
    await stream.ended();
    await untilGone();
    expect((await team.call('GET', '/v1/whoami')).body.error?.code).toBe('UNAUTHENTICATED');
    expect((await team.gateway.deliver(made.url, '{}')).status).toBe(404);
    expect((await ana.get(team.page('members'))).status).not.toBe(200);
  });

  it('asked for with a key happens once an owner approves', async () => {
    const name = await nameNow();
    const { status, body } = await team.call('DELETE', `/v1/project?name=${name}`);
    expect([status, body['deleted']]).toEqual([200, false]);
    expect(await nameNow()).toBe(name);
    await approve(String(body['request_id']));
    await untilGone();
    expect((await team.call('GET', '/v1/whoami')).status).toBe(401);
  });

  it('frees the slug', async () => {
    await team.gateway.gateway.operator.deleteProject('shop');
    const again = await new Person(team.gateway, 'ana@example.com').project({ slug: 'shop' });
    expect(again.project).toMatchObject({ slug: 'shop' });
    expect(again.project.id).not.toBe(team.projectId);
  });

  it('needs the project’s name', async () => {
    const wrong = await team.call('DELETE', '/v1/project?name=other');
    expect([wrong.status, wrong.body.error?.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('by the operator ends keys and streams too', async () => {
    const stream = await ChangeStream.open(team.gateway.url, team.key);
    const { operator } = team.gateway.gateway;
    await operator.deleteProject('shop');
    await stream.ended();
    expect(await remains()).toEqual([]);
    expect((await team.call('GET', '/v1/whoami')).body.error?.code).toBe('UNAUTHENTICATED');
    await expect(operator.deleteProject('shop')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('isn’t offered to an admin', async () => {
    const adam = await team.joined('adam@example.com', 'admin');
    expect((await adam.get(team.page('members'))).html).not.toContain('?project=1');
    await submit({ act: 'delete', typed: await nameNow() }, adam);
    expect(await remains()).toHaveLength(2);
  });
});

describe('a project on one machine', () => {
  it('is neither renamed nor deleted by a call', async () => {
    const local = await TestGateway.start();
    try {
      const renamed = await local.call('PUT', '/v1/project', { body: { name: 'Mine' } });
      const deleted = await local.call('DELETE', '/v1/project?name=Test');
      for (const { status, body } of [renamed, deleted]) {
        expect([status, JSON.stringify(body)]).toEqual([
          400,
          expect.stringContaining('This project is on one machine'),
        ]);
      }
    } finally {
      await local.stop();
    }
  });
});
