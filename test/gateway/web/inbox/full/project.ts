import { FakeClock, type TestGateway } from '../../../../helpers/gateway.ts';
import type { Route } from '../../../../shared/operations/route/routes.ts';
import { LOOPBACK, Receiver } from '../../../callbacks/callback-receiver.ts';
import { FakeBrowser } from '../../../channels/push/fake-browser.ts';
import { FakePushService } from '../../../channels/push/fake-push-service.ts';
import { TestSending } from '../../../mail/outbound/sending.ts';
import { placeOf } from '../places.ts';
import { WebVisitor } from '../web-visitor.ts';
import { newAgent, type Agent } from './agents.ts';
import { aDay, addSources, inEachState, type States } from './events.ts';
import { fillDisk } from './disk.ts';
import { fillMail } from './mail.ts';
import { endedRequests, waitingRequests } from './requests.ts';
import { fillRoutes } from './routes.ts';

export const OWNER = 'ana@example.com';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const RULES = [
  {
    effect: 'allow',
    tool: ['email_send'],
    recipient_domains: ['example.com'],
    description: 'Customers who write to us get answers at once.',
  },
  { effect: 'allow', tool: ['file_url'], description: 'Reports are public anyway.' },
  { effect: 'auto_approve', action: ['payment.refund'], amount_lte: 100 },
  { effect: 'deny', action: ['db.drop*'], description: 'Nobody drops tables from here.' },
  { effect: 'require_approval', action: ['deploy.production'], risk: ['high'], approvals: 2 },
];

/** A project of a shop that has been used for a while, on one machine, with something of every kind. */
export class FullProject {
  readonly sending: TestSending;
  readonly owner: WebVisitor;
  readonly states: States;
  /** Has deliveries that were given up. */
  readonly failingRoute: Route;
  readonly #receiver: Receiver;
  readonly #push: FakePushService;

  private constructor(
    filled: Pick<FullProject, 'sending' | 'owner' | 'states' | 'failingRoute'>,
    servers: { readonly receiver: Receiver; readonly push: FakePushService },
  ) {
    this.sending = filled.sending;
    this.owner = filled.owner;
    this.states = filled.states;
    this.failingRoute = filled.failingRoute;
    this.#receiver = servers.receiver;
    this.#push = servers.push;
  }

  /** It began two days ago. */
  static async filled(): Promise<FullProject> {
    const clock = new FakeClock(Date.now() - 2 * DAY_MS);
    const [receiver, push] = [await Receiver.start(), await FakePushService.start()];
    const sending = await TestSending.start({ clock, callbackAllow: LOOPBACK });
    const { gateway } = sending;
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    await sending.policy(...RULES);
    await addSources(gateway);
    const [support, deploy] = await addKeys(gateway, clock);
    await gateway.call('POST', '/v1/channels', {
      body: { kind: 'email', address: 'ben@example.com', label: 'ben' },
    });
    const failingRoute = await fillRoutes({ gateway, clock, receiver });
    await endedRequests({ gateway, clock, support, deploy });
    await aDay({ gateway, clock, agent: support });
    await fillDisk(gateway, support);
    await fillMail(sending);
    const states = await inEachState({ gateway, clock, agent: support });
    await waitingRequests({ gateway, clock, support, deploy });
    clock.advance(2 * 60_000);
    const owner = await WebVisitor.asOwner(gateway, OWNER);
    await addBrowser(gateway, owner, push);
    return new FullProject({ sending, owner, states, failingRoute }, { receiver, push });
  }

  get gateway(): TestGateway {
    return this.sending.gateway;
  }

  async stop(): Promise<void> {
    await this.sending.stop();
    await this.#receiver.stop();
    await this.#push.stop();
  }
}

/** The keys of two agents, and some that no longer work. */
async function addKeys(
  gateway: TestGateway,
  clock: FakeClock,
): Promise<readonly [support: Agent, deploy: Agent]> {
  const support = await newAgent(gateway, 'support-bot', [
    'inbox:read',
    'inbox:write',
    'approvals',
    'disk',
    'send',
  ]);
  const deploy = await newAgent(gateway, 'deploy-bot', ['inbox:read', 'approvals', 'disk'], {
    expires_at: new Date(clock.now() + 30 * DAY_MS).toISOString(),
  });
  await newAgent(gateway, 'reports', ['disk:read', 'ledger:read'], { disk_prefixes: ['reports/'] });
  const old = await newAgent(gateway, 'laptop of Jonas', ['inbox:read']);
  await gateway.call('DELETE', `/v1/keys/${old.id}`);
  return [support, deploy];
}

/** Lets a browser of the owner show notices, as the script of the page does. */
async function addBrowser(
  gateway: TestGateway,
  owner: WebVisitor,
  push: FakePushService,
): Promise<void> {
  const page = await placeOf(gateway, 'browsers');
  await owner.get(page);
  await owner.post(page, { fields: { act: 'prepare' } });
  await owner.get(`${page}?add=1`);
  const subscription = new FakeBrowser(push.url('/ana')).json;
  await owner.post(page, { fields: { act: 'add', name: 'Firefox on Linux', subscription } });
}
