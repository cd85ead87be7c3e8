import { afterEach, describe, expect, it } from 'vitest';
import { reasonOf } from '../../../daemon/upstream/upstream-error.ts';

const SETTING = 'NODE_EXTRA_CA_CERTS';
const before = process.env[SETTING];
afterEach(() => {
  if (before === undefined) delete process.env[SETTING];
  else process.env[SETTING] = before;
});

const told = (code: string): string => reasonOf(Object.assign(new Error(code), { code }));

describe('why there is no secure connection', () => {
  it.each([
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
    ['CERT_HAS_EXPIRED', 'its certificate has expired'],
    ['CERT_NOT_YET_VALID', "check this machine's clock"],
    ['ERR_SSL_WRONG_VERSION_NUMBER', "doesn't speak TLS"],
  ])('says nothing of authorities where they are not to blame: %s', (code, words) => {
    expect(told(code)).toContain(`${code}; `);
    expect(told(code)).toContain(words);
    expect(told(code)).not.toContain(SETTING);
  });

  it('names the file of authorities that was remembered and is gone', () => {
    process.env[SETTING] = '/nowhere/authority.pem';
    expect(told('UNABLE_TO_VERIFY_LEAF_SIGNATURE')).toContain(
      "the file of certificate authorities /nowhere/authority.pem can't be read: put it back",
    );
  });

  it('names the setting where no file is missing', () => {
    delete process.env[SETTING];
    expect(told('SELF_SIGNED_CERT_IN_CHAIN')).toContain(
      'start the daemon with NODE_EXTRA_CA_CERTS=FILE',
    );
  });
});
