import { TestGateway } from '../helpers/gateway.ts';
import { openBrowser } from '../gateway/web/pages/browser.ts';
import { openAs } from '../gateway/web/inbox/visitor-tab.ts';
import { WebVisitor } from '../gateway/web/inbox/web-visitor.ts';

const OWNER = 'ana@example.com';
const TOP = { x: 0, y: 0, width: 360, height: 740 };

/** What two agents ask: the second is shown first. */
const ASKED = [
  {
    agent: 'claude-code',
    action: 'email.send',
    summary: 'Tell 3 customers that their invoice was wrong',
    risk: 'low',
    wait_seconds: 0,
  },
  {
    agent: 'codex',
    action: 'deploy.production',
    summary: 'Deploy v2.1: new checkout, and a migration of 40,000 orders',
    details: 'The migration takes about two minutes. Orders can be placed meanwhile.',
    risk: 'high',
    wait_seconds: 0,
  },
];

const gateway = await TestGateway.start();
const browser = await openBrowser();
try {
  const shop = { name: 'Shop', slug: 'shop', owner: OWNER };
  const { apiKey: key } = await gateway.gateway.createProject(shop);
  for (const { agent, ...body } of ASKED) {
    const headers = { 'x-service-agent': agent };
    const asked = await gateway.call('POST', '/v1/requests', { body, headers, key });
    if (asked.status >= 300) throw new Error(JSON.stringify(asked.body));
  }
  const owner = await WebVisitor.asOwner(gateway, OWNER);
  const tab = await openAs(browser, gateway, owner);
  await tab.page.goto(`${gateway.url}/ui/p/${shop.slug}/requests`);
  await tab.page.screenshot({ path: 'docs/inbox-phone.png', clip: TOP });
} finally {
  await browser.close();
  await gateway.stop();
}
