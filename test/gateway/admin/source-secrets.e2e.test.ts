import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Connection } from '../../../shared/store/engine/connection.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { FakeClock, temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { SIGNERS, type Signer } from '../http/source-signers.ts';
import { startGatewayProcess } from '../server/gateway-process.ts';
import { operator } from './operator.ts';

const [{ verification, secrets, headers }] = SIGNERS as readonly [Signer];
const [OLD, NEW] = secrets;

const clock = new FakeClock();
let root: ReturnType<typeof temporaryFolder>;
let data: string;
let first: TestGateway;
/** Of the hook, behind whatever address the gateway has. */
let path: string;
let sent = 0;

beforeEach(async () => {
  root = temporaryFolder();
  data = join(root.path, 'data');
  mkdirSync(data);
  first = await TestGateway.start({ folder: data, clock });
  path = new URL(await first.addSource({ name: 'shop', verification, secret: OLD })).pathname;
});
afterEach(() => root.remove());

/** Gives it the new secret, and ends the gateway. */
async function rotated(): Promise<void> {
  const body = { secret: NEW, previous_valid_seconds: 60 };
  const { status } = await first.call('POST', '/v1/sources/shop/rotate', { body });
  expect(status).toBe(200);
  await first.stop({ keepFolder: true });
}

/** What a delivery gets, by the secret that signs it, at a gateway with this address. */
async function sendTo(url: string, atMs: number): Promise<number[]> {
  const answers: number[] = [];
  for (const secret of [OLD, NEW]) {
    const body = JSON.stringify({ n: (sent += 1) });
    const signed = await headers(secret, body, atMs);
    const { status } = await fetch(url + path, { method: 'POST', body, headers: signed });
    answers.push(status);
  }
  return answers;
}

/** The same, at a gateway that is started over this folder. */
async function statuses(folder: string): Promise<number[]> {
  const gateway = await TestGateway.start({ folder, clock, projectOf: first });
  try {
    return await sendTo(gateway.url, clock.now());
  } finally {
    await gateway.stop({ keepFolder: true });
  }
}

/** A folder that has the master key and nothing else. */
function empty(): string {
  const folder = join(root.path, 'elsewhere');
  mkdirSync(folder);
  copyFileSync(join(data, 'master.key'), join(folder, 'master.key'));
  return folder;
}

async function run(...args: string[]): Promise<void> {
  const { code, err } = await operator(args);
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
}

const raw = (fn: (database: Connection) => void): void =>
  withRawDatabase(join(data, 'projects', first.projectId, 'project.db'), fn);

describe('the two secrets of a source that is being rotated', () => {
  it('go with an export, and the end of the one before as well', async () => {
    await rotated();
    const moved = join(root.path, 'moved');
    await run('export', first.projectId, moved, '--data', data);
    const elsewhere = empty();
    await run('import', moved, '--data', elsewhere);
    expect(await statuses(elsewhere)).toEqual([200, 200]);
    clock.advance(60_000);
    expect(await statuses(elsewhere)).toEqual([401, 200]);
  });

  it('are in a backup', async () => {
    await rotated();
    const backup = join(root.path, 'backup');
    await run('backup', backup, '--data', data);
    const elsewhere = empty();
    await run('restore', backup, '--data', elsewhere);
    expect(await statuses(elsewhere)).toEqual([200, 200]);
    clock.advance(60_000);
    expect(await statuses(elsewhere)).toEqual([401, 200]);
  });

  it('are sealed for their columns: one put into the place of the other opens nothing', async () => {
    await rotated();
    raw((database) => database.exec('UPDATE source SET secret = previous_secret'));
    expect(await statuses(data)).toEqual([500, 500]);
  });
});

describe('a gateway that is killed as soon as it has answered a rotation', () => {
  it('knows both secrets when it is back, and has lost the leaked one', async () => {
    await first.stop({ keepFolder: true });
    let gateway = await startGatewayProcess(data, 2);
    try {
      for (const [seconds, expected] of [
        [60, [200, 200]],
        [0, [401, 200]],
      ] as const) {
        const answer = await fetch(`${gateway.url}/v1/sources/shop/rotate`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${first.apiKey}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ secret: NEW, previous_valid_seconds: seconds }),
        });
        await gateway.kill();
        expect(answer.status).toBe(200);
        gateway = await startGatewayProcess(data, 2);
        expect(await sendTo(gateway.url, Date.now())).toEqual(expected);
      }
    } finally {
      await gateway.kill();
    }
    // Three processes are started.
  });
});

/** What the migrations since the fifth added goes. */
const WITHOUT_LATER_RELEASES = `
  DROP INDEX request_thread;
  ALTER TABLE request DROP COLUMN thread;
  ALTER TABLE request DROP COLUMN lasts_until;
  ALTER TABLE source_hour DROP COLUMN repeated;
  DROP INDEX email_batch_unsummed;
  DROP INDEX email_message_unsummed;
  DROP INDEX policy_unsummed;
  DROP INDEX request_unsummed;
  ALTER TABLE email_batch DROP COLUMN sum;
  ALTER TABLE email_message DROP COLUMN sum;
  ALTER TABLE policy DROP COLUMN sum;
  ALTER TABLE request DROP COLUMN sum;
  DROP INDEX event_unsummed;
  DROP INDEX file_unsummed;
  DROP INDEX kv_unsummed;
  ALTER TABLE event DROP COLUMN head_sum;
  ALTER TABLE event DROP COLUMN body_sum;
  ALTER TABLE file DROP COLUMN sum;
  ALTER TABLE kv DROP COLUMN sum;
  DROP INDEX ledger_actor;
  ALTER TABLE ledger DROP COLUMN actor;
  DROP INDEX key_expiry;
  DROP INDEX key_maker;
  ALTER TABLE source DROP COLUMN created_by;
  ALTER TABLE source DROP COLUMN secret_by;
  ALTER TABLE upload DROP COLUMN key_id;
  ALTER TABLE callback_secret DROP COLUMN created_by;
  ALTER TABLE channel DROP COLUMN person_of;
  DROP INDEX event_mail;
  DROP INDEX event_thread_time;
  DROP INDEX email_batch_thread;
  DROP INDEX email_message_status;
  DROP TABLE activity;
  DROP INDEX event_finished;
  DROP INDEX delivery_finished;
  DROP INDEX request_agent;
  DROP INDEX request_action;
  DROP TABLE browser;
  DROP INDEX source_previous_secret;
  ALTER TABLE source DROP COLUMN previous_secret;
  ALTER TABLE source DROP COLUMN previous_valid_until;
  ALTER TABLE file DROP COLUMN upload_id;
  DROP TABLE park;
  DROP TABLE park_ref;
  DROP TABLE ledger_opening;
  DROP TABLE vote;
  DROP INDEX event_reply_to;
  DROP INDEX request_event;
  ALTER TABLE request DROP COLUMN event_id;
  ALTER TABLE request DROP COLUMN bind;
  ALTER TABLE request DROP COLUMN identity;
  ALTER TABLE request DROP COLUMN spent_by;
  ALTER TABLE request DROP COLUMN approvals;
  ALTER TABLE notice DROP COLUMN about;
  ALTER TABLE event DROP COLUMN asker_key_id;
  ALTER TABLE email_message DROP COLUMN field;
  DROP TABLE state_version;
  DELETE FROM disk WHERE name = 'history_bytes';
  ALTER TABLE kv DROP COLUMN key_id;
  ALTER TABLE kv DROP COLUMN agent;
  ALTER TABLE email_batch DROP COLUMN answers;
  DROP INDEX event_thread;
  ALTER TABLE event DROP COLUMN thread_id;
  ALTER TABLE email_batch DROP COLUMN thread_id;
  ALTER TABLE key DROP COLUMN disk_prefixes;
  DROP TABLE member;
  DROP TABLE source_use;
  DROP TABLE notice_budget;
  DROP INDEX notice_held;
  ALTER TABLE notice DROP COLUMN admitted;
  DROP TABLE oauth_grant;
  ALTER TABLE key DROP COLUMN client;
  ALTER TABLE key DROP COLUMN secret_expires_at;
  PRAGMA user_version=5`;

describe('a source of an earlier release', () => {
  it('keeps its secret, and can be given another', async () => {
    await first.stop({ keepFolder: true });
    raw((database) => database.exec(WITHOUT_LATER_RELEASES));
    expect(await statuses(data)).toEqual([200, 401]);
    first = await TestGateway.start({ folder: data, clock, projectOf: first });
    await rotated();
    expect(await statuses(data)).toEqual([200, 200]);
  });
});
