import { describe, expect, it } from 'vitest';
import { alwaysCheckCertificates } from '../../../shared/host/certificate-check.ts';

describe('NODE_TLS_REJECT_UNAUTHORIZED', () => {
  it.each([
    ['0', undefined, 1],
    ['1', '1', 0],
    [undefined, undefined, 0],
  ])('%j becomes %j', (given, left, sentences) => {
    const env: NodeJS.ProcessEnv = { NODE_TLS_REJECT_UNAUTHORIZED: given };
    const told: string[] = [];
    alwaysCheckCertificates((text) => told.push(text), env);
    expect(env['NODE_TLS_REJECT_UNAUTHORIZED']).toBe(left);
    expect(told).toHaveLength(sentences);
  });
});
