import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newApiKey, newProjectId, newToken, parseApiKey } from '../../shared/lib/ids.ts';
import { findProgram } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';

const PAGE = readFileSync('docs/threat-model.md', 'utf8');
const [, pattern = ''] = /^```\n(svc_live_.+)\n```$/m.exec(PAGE) ?? [];
const [, program = ''] = /^```python\n([^`]+)```$/m.exec(PAGE) ?? [];
const PYTHON = findProgram('python3');

const keys = Array.from({ length: 50 }, () => newApiKey(newProjectId()));
const text = [
  ...keys.map((key) => `SVC_API_KEY="${key}" # of ${newToken(newProjectId())}`),
  `svc_live_${'0'.repeat(54)}`,
  `${keys[0]?.slice(0, -1)}!`,
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
].join('\n');

describe('what the page on security publishes of keys', () => {
  it('finds those that are made, and the checksum leaves them alone', () => {
    const found = text.match(new RegExp(pattern, 'g')) ?? [];
    expect(found).toHaveLength(keys.length + 1);
    expect(found.filter((key) => parseApiKey(key) !== null)).toEqual(keys);
  });

  it.runIf(required('the program of the page', PYTHON !== null, 'there is no python3'))(
    'is a program that prints them',
    () => {
      const out = execFileSync(PYTHON ?? '', ['-c', program], { input: text, encoding: 'utf8' });
      expect(out.trim().split('\n')).toEqual(keys);
    },
  );
});
