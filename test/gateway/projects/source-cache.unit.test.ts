import { expect, it } from 'vitest';
import {
  heldSecrets,
  SourceCache,
  type OpenSource,
} from '../../../gateway/projects/source-cache.ts';

const source: OpenSource = {
  row: {
    id: 'src_1',
    name: 'shop',
    type: 'webhook',
    verification: 'github',
    signature_header: null,
    secret: null,
    previous_secret: null,
    previous_valid_until: null,
    token: null,
    created_at: '2026-01-02T03:04:05.000Z',
    created_by: null,
    secret_by: null,
  },
  secrets: [
    { text: 'new', until: null },
    { text: 'old', until: 1000 },
  ],
};

it('a source read before a change is not remembered after it', () => {
  const cache = new SourceCache({ remembers: true });
  const { version } = cache;
  cache.clear();
  cache.set('token', source, version);
  expect(cache.get('token')).toBeUndefined();
  cache.set('token', source, cache.version);
  expect(cache.get('token')).toBe(source);
  cache.clear();
  expect(cache.get('token')).toBeUndefined();
});

it('a source that others may change unseen is not remembered', () => {
  const cache = new SourceCache({ remembers: false });
  cache.set('token', source, cache.version);
  expect(cache.get('token')).toBeUndefined();
});

it.each([
  [999, ['new', 'old']],
  [1000, ['new']],
])('at %i ms these secrets hold: %j', (now, held) => {
  expect(heldSecrets(source, now)).toEqual(held);
});
