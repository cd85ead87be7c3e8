import { describe, expect, it } from 'vitest';
import { addressText, gatewayAddress } from '../../../cli/signin/gateway-address.ts';

const safe = { insecure: false };

describe('the address of a gateway', () => {
  it.each([
    ['https://svc.example.com', 'https://svc.example.com'],
    [' https://svc.example.com/ ', 'https://svc.example.com'],
    ['svc.example.com', 'https://svc.example.com'],
    ['svc.example.com:8443/team/', 'https://svc.example.com:8443/team'],
    ['https://svc.example.com/v1', 'https://svc.example.com'],
    ['https://svc.example.com/team/v1/', 'https://svc.example.com/team'],
    ['HTTPS://SVC.Example.com', 'https://svc.example.com'],
    ['localhost:4780', 'http://localhost:4780'],
    ['127.0.0.1:4780', 'http://127.0.0.1:4780'],
    ['http://127.0.0.1:4780', 'http://127.0.0.1:4780'],
    ['http://[::1]:4780', 'http://[::1]:4780'],
  ])('%s', (typed, stored) => {
    expect(addressText(gatewayAddress(typed, safe))).toBe(stored);
  });

  it.each(['', ' ', 'ftp://svc.example.com', 'file:///etc', 'https://', 'a b'])(
    '%j is none',
    (typed) => {
      expect(() => gatewayAddress(typed, safe)).toThrow("isn't a gateway address");
    },
  );

  it.each(['https://ana:secret@svc.example.com', 'https://svc.example.com/?a=1', 'https://x/#a'])(
    '%s says too much, and no secret of it is repeated',
    (typed) => {
      expect(() => gatewayAddress(typed, safe)).toThrow(/^(?!.*secret).*no user, query/);
    },
  );

  it.each(['http://svc.example.com', 'http://10.0.0.1:4780', 'http://127.0.0.1.example.com'])(
    '%s needs consent, as the key would travel in clear',
    (typed) => {
      expect(() => gatewayAddress(typed, safe)).toThrow('cross the network unencrypted');
      expect(addressText(gatewayAddress(typed, { insecure: true }))).toBe(typed);
    },
  );
});
