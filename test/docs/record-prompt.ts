import { HOOK_CLIENTS } from '../../cli/hooks/clients.ts';
import { questionAbout } from '../../cli/hooks/question.ts';
import { openBrowser, Tab } from '../gateway/web/pages/browser.ts';
import { TestGateway } from '../helpers/gateway.ts';
import { linkToken } from '../helpers/outbox.ts';

const OWNER = 'ana@example.com';
/** What the client gives the hook; the page in docs/prompts.md tells the same story. */
const PAYLOAD = {
  tool_name: 'Bash',
  tool_input: { command: 'npm publish' },
  cwd: '/home/ana/shop',
};

const { title, read } = HOOK_CLIENTS['claude-code'];
const call = read(PAYLOAD);
const question = call && questionAbout(call, title);
if (question === null || typeof question === 'string') throw new Error(`No question: ${question}`);

const gateway = await TestGateway.start();
const browser = await openBrowser();
try {
  const { apiKey: key } = await gateway.gateway.createProject({
    name: 'Shop',
    slug: 'shop',
    owner: OWNER,
  });
  const body = { ...question, wait_seconds: 0 };
  const headers = { 'x-service-agent': 'claude-code' };
  const asked = await gateway.call('POST', '/v1/requests', { body, headers, key });
  if (asked.status >= 300) throw new Error(JSON.stringify(asked.body));
  const { page } = await Tab.open(browser);
  await page.goto(`${gateway.url}/a/${await linkToken(gateway.folder)}`);
  await page.screenshot({ path: 'docs/prompt-phone.png' });
} finally {
  await browser.close();
  await gateway.stop();
}
