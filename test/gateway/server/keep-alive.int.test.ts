import { afterAll, beforeAll, expect, it } from 'vitest';
import { HostedGateway } from '../../helpers/hosted.ts';

let gateway: HostedGateway;
beforeAll(async () => {
  gateway = await HostedGateway.start('');
});
afterAll(() => gateway.stop());

it('an idle connection stays open for longer than balancers use it, so none answers 502', async () => {
  const answer = await fetch(`${gateway.url}/healthz`);
  const seconds = /timeout=(\d+)/.exec(answer.headers.get('keep-alive') ?? '')?.[1];
  expect(Number(seconds)).toBeGreaterThan(75);
});
