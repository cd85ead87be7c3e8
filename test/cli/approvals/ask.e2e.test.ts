import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visit } from '../../helpers/page-visitor.ts';
import { Harness } from '../../surface/harness.ts';
import { fieldsOf, parsedLine } from '../tools/fakes.ts';
import { start } from '../tools/processes.ts';
import { linkAbout } from './outbox-link.ts';

const PATIENCE = { timeout: 60_000 };

let daemon: Harness;
beforeAll(async () => {
  daemon = await Harness.local('ask-test');
});
afterAll(() => daemon.stop());

function svc(...args: readonly string[]) {
  return start(process.execPath, [daemon.bundle, ...args], daemon);
}

/** Asks for an approval and waits in the background. */
function ask(summary: string, ...flags: readonly string[]) {
  return svc('ask', 'approval', 'deploy.production', summary, '--wait-seconds', '60', ...flags);
}

describe('svc ask approval', () => {
  it('ends with 0 when the owner approves on the page of the message, so that the work goes on', async () => {
    const script = `"$0" "$1" ask approval deploy.production "Deploy 1.0" --wait-seconds 60 && echo DEPLOYED`;
    const { ended, said } = start('sh', ['-c', script, process.execPath, daemon.bundle], daemon);
    const link = await linkAbout(daemon, 'Deploy 1.0');
    // Whoever is as quick as this program need not be told where to look.
    await expect.poll(said, PATIENCE).toContain('svc outbox open\n');
    const page = await visit(link, { button: 'Approve', typed: { comment: 'go ahead' } });
    expect(page).toContain('Approved by owner');
    const { code, out, err } = await ended;
    expect(code).toBe(0);
    const [line = '', after] = out.split('\n');
    expect(parsedLine(line)).toMatchObject({ status: 'approved', comment: 'go ahead' });
    expect(after).toBe('DEPLOYED');
    expect(err).toBe(
      'The question is saved here, not mailed: no mail server is set. To decide: svc outbox open\n',
    );
  });

  it('ends with 5 when the owner denies', async () => {
    const { ended } = ask('Deploy 2.0', '--risk', 'high', '--details', 'No tests yet.');
    await visit(await linkAbout(daemon, 'Deploy 2.0'), {
      button: 'Deny',
      typed: { comment: 'not today' },
    });
    const { code, out } = await ended;
    expect(code).toBe(5);
    expect(parsedLine(out)).toMatchObject({ status: 'denied', comment: 'not today' });
  });

  it('asks a second time where the risk is high, and takes a choice', async () => {
    const flags = ['--risk', 'high', '--details', 'All tests pass.', '--options', 'at night'];
    const { ended } = ask('Deploy 3.0', ...flags);
    await visit(await linkAbout(daemon, 'Deploy 3.0'), { button: 'at night' });
    const { code, out } = await ended;
    expect(code).toBe(0);
    expect(parsedLine(out)).toMatchObject({ status: 'modified', decision: 'at night' });
  });

  it('ends with 6 when nobody decides in time; request watch picks it up', async () => {
    const asking = svc('ask', 'approval', 'deploy', 'Deploy 4.0', '--wait-seconds', '1');
    const { code, out, err } = await asking.ended;
    const id = String(parsedLine(out)['request_id']);
    expect(code).toBe(6);
    expect(err).toContain(`Still pending. Next: svc request watch ${id}\n`);
    expect((await daemon.svc('request', 'status', id)).code).toBe(6);
    const { ended } = svc('request', 'watch', id);
    await visit(await linkAbout(daemon, 'Deploy 4.0'), { button: 'Approve' });
    expect((await ended).code).toBe(0);
    expect((await daemon.svc('request', 'status', id)).code).toBe(0);
  });

  it('leaves the request open at Ctrl-C, and says how to pick it up', async () => {
    const { child, ended, said } = ask('Deploy 5.0');
    await linkAbout(daemon, 'Deploy 5.0');
    // It has found its request by then.
    await expect.poll(said, PATIENCE).toContain('svc outbox open\n');
    child.kill('SIGINT');
    const { code, out, err } = await ended;
    expect([code, out]).toEqual([130, '']);
    const [, id = '', key = ''] =
      /svc request watch (req_\w+)\nOr repeat the command with: (\S+)\n$/.exec(err) ?? [];
    const { out: status } = await daemon.svc('request', 'status', id);
    expect(parsedLine(status)).toMatchObject({ status: 'pending', summary: 'Deploy 5.0' });
    const repeated = ask('Deploy 5.0', key);
    await visit(await linkAbout(daemon, 'Deploy 5.0'), { button: 'Approve' });
    expect(parsedLine((await repeated.ended).out)).toMatchObject({ request_id: id });
  });

  it('ends at its time, and says how to find the request, when the daemon is killed and stays away', async () => {
    const asking = svc('ask', 'approval', 'deploy', 'Deploy 6.0', '--wait', '10s');
    await linkAbout(daemon, 'Deploy 6.0');
    process.kill(Number(parsedLine((await daemon.svc('status')).out)['pid']), 'SIGKILL');
    const { code, out, err } = await asking.ended;
    expect([code, out]).toEqual([7, '']);
    expect(err).toContain('UNREACHABLE');
    expect(err).toContain('svc request list --status pending');
    const { port } = new URL(daemon.url);
    const up = async () => (await daemon.svc('up', '--port', port, '--json')).code;
    await expect.poll(up, PATIENCE).toBe(0);
    expect((await daemon.svc('request', 'list')).out).toContain('Deploy 6.0');
  });

  it.each(['down', 'kill -9'])('waits on over a restart of the daemon after %s', async (how) => {
    const summary = `Deploy after ${how}`;
    const { ended, said } = ask(summary);
    const link = await linkAbout(daemon, summary);
    if (how === 'down') await daemon.svc('down');
    else process.kill(Number(parsedLine((await daemon.svc('status')).out)['pid']), 'SIGKILL');
    // One that is back too soon is not missed.
    await expect.poll(said, PATIENCE).toContain("The daemon isn't running.");
    const { port } = new URL(daemon.url);
    const up = async () => (await daemon.svc('up', '--port', port, '--json')).code;
    await expect.poll(up, PATIENCE).toBe(0);
    await visit(link, { button: 'Approve' });
    const { code, out, err } = await ended;
    expect(code).toBe(0);
    expect(parsedLine(out)).toMatchObject({ status: 'approved' });
    expect(err).toContain(
      "The daemon isn't running. The request stays open, and svc keeps waiting.",
    );
    // Asked once, whatever was repeated.
    const items: unknown = parsedLine((await daemon.svc('request', 'list')).out)['items'];
    const same = (Array.isArray(items) ? items : []).map(fieldsOf);
    expect(same.filter((one) => one['summary'] === summary)).toHaveLength(1);
  });
});

describe('people', () => {
  it('answer a question, let another one in and change the policy', async () => {
    const asking = svc('ask', 'human', 'Which region?', '--wait-seconds', '20');
    const answer = { button: 'Send this answer', typed: { text: 'eu-west' } };
    await visit(await linkAbout(daemon, 'Which region?'), answer);
    expect(parsedLine((await asking.ended).out)).toMatchObject({ decision: 'eu-west' });

    await daemon.svc('channel', 'add', 'email', 'ana@example.com', '--label', 'ana');
    await visit(await linkAbout(daemon, 'onfirm'), { button: 'Confirm' });
    await visit(await linkAbout(daemon, 'Let ana decide'), { button: 'Approve' });
    const { items } = parsedLine((await daemon.svc('channel', 'list')).out);
    expect(items).toMatchObject([{ owner: true }, { label: 'ana', status: 'active' }]);
    const status = parsedLine((await daemon.svc('status')).out);
    expect(status['people']).toMatchObject({ active_email: 2, mail: 'outbox' });

    const rules = [{ id: 'small', effect: 'auto_approve', action: 'payment.*', amount_lte: 100 }];
    const proposing = svc('policy', 'set', JSON.stringify({ rules }), '--wait-seconds', '20');
    await visit(await linkAbout(daemon, 'Replace policy version 0'), { button: 'Approve' });
    expect((await proposing.ended).code).toBe(0);
    const small = ['ask', 'approval', 'payment.refund', 'Refund', '--amount', '10'];
    const { code, out } = await daemon.svc(...small);
    expect(code).toBe(0);
    expect(parsedLine(out)).toMatchObject({ status: 'approved', decided_by: 'policy:small' });
  });
});
