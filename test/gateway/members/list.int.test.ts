import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';
import { Person } from '../auth/sign-in/person.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.start({ signIn: true });
});
afterAll(() => gateway.stop());

interface Listed {
  readonly items: Record<string, unknown>[];
}

describe('the members of a project', () => {
  it('begin with the owner, whose address is masked', async () => {
    const founded = await new Person(gateway, 'ana@example.com').project();
    const { body } = await gateway.call<Listed>('GET', '/v1/members', { key: founded.api_key });
    expect(body).toEqual({
      items: [
        {
          id: expect.stringMatching(/^mbr_[0-9a-z]{26}$/),
          role: 'owner',
          address: 'a***@example.com',
          status: 'active',
          channel_id: founded.channel.id,
          invited_by: null,
          inviter: null,
          created_at: founded.channel.created_at,
          expires_at: null,
          joined_at: founded.channel.created_at,
        },
      ],
      next_cursor: null,
    });
  });

  it('are shown to a narrow key only as the member behind it', async () => {
    const { api_key: key } = await new Person(gateway, 'ben@example.com').project();
    const made = await gateway.call<{ api_key: string }>('POST', '/v1/keys', {
      key,
      body: { name: 'reader', scopes: ['inbox:read'] },
    });
    const own = await gateway.call<Listed>('GET', '/v1/members', { key: made.body.api_key });
    expect(own.body.items).toMatchObject([{ role: 'owner', address: 'b***@example.com' }]);
    const loose = await gateway.key('inbox:read');
    const none = await gateway.call<Listed>('GET', '/v1/members', { key: loose });
    expect(none.body.items).toEqual([]);
  });
});
