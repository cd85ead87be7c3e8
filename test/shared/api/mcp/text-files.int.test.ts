import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { Agent } from './agent.ts';

let gateway: TestGateway;
let agent: Agent;

beforeAll(async () => {
  gateway = await TestGateway.start();
  agent = new Agent(gateway.url, gateway.apiKey);
});
afterAll(() => gateway.stop());

/** What a call answered, or the text of its refusal. */
async function call(name: string, input: object): Promise<unknown> {
  const { result } = await agent.modern('tools/call', { name, arguments: input });
  const [{ text } = { text: '' }] = result['content'] as { text: string }[];
  return result['isError'] === true ? text : result['structuredContent'];
}

const put = (content: string, more: object = {}) =>
  call('file_put', { path: 'notes/a.md', content, ...more });
const get = (more: object = {}) => call('file_get', { path: 'notes/a.md', ...more });

describe('a text file over MCP', () => {
  it.each(['# Ä\r\n😀\n', '', '\uFEFFwith a mark', '{"a":1}', '5', 'null'])(
    'goes and comes as text: %j',
    async (content) => {
      expect(await put(content)).toMatchObject({
        path: 'notes/a.md',
        size_bytes: Buffer.byteLength(content),
        content_type: 'text/plain; charset=utf-8',
      });
      const text = await get({ as: 'text' });
      expect(text).toMatchObject({ content });
      expect(text).not.toHaveProperty('content_base64');
      const bytes = await get();
      expect(bytes).toMatchObject({ content_base64: Buffer.from(content).toString('base64') });
      expect(bytes).not.toHaveProperty('content');
      const { bytes: stored } = await gateway
        .call('GET', '/v1/files/notes%2Fa.md')
        .then(({ body }) => ({ bytes: Buffer.from(String(body['content_base64']), 'base64') }));
      expect(stored.toString('utf8')).toBe(content);
    },
  );

  it('has the type that the caller names', async () => {
    expect(await put('a: 1', { content_type: 'application/yaml' })).toMatchObject({
      content_type: 'application/yaml',
    });
  });

  it('can have 1 MB, and no more', async () => {
    const most = 'ä'.repeat(524_288);
    expect(await put(most)).toMatchObject({ size_bytes: 1_048_576 });
    expect(await get({ as: 'text' })).toMatchObject({ content: most });
    expect(await put(`${most}x`)).toMatch(/^PAYLOAD_TOO_LARGE: /);
  });

  it('is refused beside other contents', async () => {
    const both = await put('x', { content_base64: 'eA==' });
    expect(both).toContain('Give exactly one of content, content_base64, upload, complete.');
    const none = await call('file_put', { path: 'a' });
    expect(none).toContain('content_base64: Give exactly one of content, ');
    expect(await put('x', { complete: 'upl_01j9z3k4m5n6p7q8r9s0t1v2w3' })).toContain('complete: ');
  });

  it('that is no text says so', async () => {
    await call('file_put', { path: 'notes/a.md', content_base64: '/w==' });
    const refused = "as: The file isn't UTF-8 text: read it as `base64`.";
    expect(await get({ as: 'text' })).toContain(refused);
    expect(await get({ as: 'base64' })).toMatchObject({ content_base64: '/w==' });
    expect(await get({ as: 'html' })).toContain('as: Must be one of `base64`, `text`.');
  });

  it('keeps to the version that it should replace', async () => {
    await call('file_put', { path: 'v.txt', content: 'one', if_version: 0 });
    expect(await call('file_put', { path: 'v.txt', content: 'two', if_version: 0 })).toMatch(
      /^PRECONDITION_FAILED: /,
    );
  });
});

it('a script reads a text over REST, too', async () => {
  await call('file_put', { path: 'r.txt', content: 'text' });
  const { body } = await gateway.call('GET', '/v1/files/r.txt?as=text');
  expect(body).toMatchObject({ content: 'text' });
});
