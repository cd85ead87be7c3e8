import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const FOLDERS = ['cli', 'clients', 'daemon', 'gateway', 'shared'];

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|mjs)$/.test(name))
    .map((name) => join(folder, name)),
).map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** The files that contain a match. */
function filesWith(pattern: RegExp): string[] {
  return sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
}

/** The distinct matches. */
function found(pattern: RegExp): string[] {
  const all = sources.flatMap(({ text }) =>
    [...text.matchAll(pattern)].map(([, what = '']) => what),
  );
  return [...new Set(all)].toSorted();
}

function inStore(path: string): boolean {
  return /^(?:shared|gateway)\/store\//.test(path);
}

describe('the program', () => {
  it('is all looked at', () => {
    expect(sources.length).toBeGreaterThan(600);
    expect(filesWith(/createCipheriv/).toSorted()).toEqual([
      // Pushes to browsers, in the way that they open them.
      'gateway/channels/push/encrypt.ts',
      'gateway/lib/vault.ts',
    ]);
  });

  it('makes no code of text, and no regular expression but of constants', () => {
    expect(filesWith(/\beval\(|new Function\(/)).toEqual([]);
    expect(filesWith(/\bnode:vm\b/).toSorted()).toEqual([
      // Loads the code of the command from its cache.
      'cli/start.ts',
      // Asks the engine for its garbage collector.
      'shared/store/engine/closed-connections.ts',
    ]);
    expect(filesWith(/new RegExp\(/).toSorted()).toEqual([
      'cli/commands/api.ts',
      'cli/view/typed-names.ts',
      'gateway/blobs/s3-listing.ts',
      'gateway/mail/compose.ts',
      'gateway/mail/dkim-config.ts',
      'gateway/mail/inbound/reader/reports/automatic.ts',
      'gateway/mail/inbound/reader/reports/report-words.ts',
      'gateway/mail/inbound/reader/text/html-text.ts',
      'gateway/mail/server-url.ts',
      'gateway/server/route-table.ts',
      'gateway/web/pages/text.ts',
      'shared/lib/ids.ts',
      'shared/operations/email/project-address.ts',
      'shared/rules/mail/mail-address.ts',
    ]);
  });

  it('waits by no timeout that Node may drop', () => {
    expect(filesWith(/AbortSignal\.any\(\[[^\]]*AbortSignal\.timeout/)).toEqual([]);
  });

  it('gives a shell nothing but the command that its own user wrote', () => {
    expect(filesWith(/\bexecSync\(|\bexecFile|shell: true/).toSorted()).toEqual([
      'cli/doctor/checks.ts',
      // This program itself, as a client of MCP will start it.
      'cli/program-path.ts',
      'clients/typescript/build.mjs',
      'shared/store/log/log-files.ts',
    ]);
    expect(filesWith(/\b(?:spawn|spawnSync)\(\s*['"](?:ba)?sh['"]/).toSorted()).toEqual([
      // `svc inbox work --exec`; what comes from outside is its standard input.
      'cli/commands/inbox/work.ts',
      'cli/work/child.ts',
    ]);
    expect(filesWith(/'node:child_process'/).toSorted()).toEqual([
      'cli/browser.ts',
      'cli/commands/inbox/work.ts',
      'cli/commands/up.ts',
      'cli/doctor/checks.ts',
      'cli/program-path.ts',
      'cli/work/child.ts',
      // `svc once NAME -- CMD`, without a shell.
      'cli/work/step.ts',
      'clients/typescript/build.mjs',
      'daemon/launch.ts',
      'daemon/replica/sync/sync-process.ts',
      'gateway/scrub/scrubber.ts',
      'shared/store/log/log-files.ts',
    ]);
  });

  it('encrypts by AES-256-GCM, hashes by SHA-256 and draws secrets from the system', () => {
    expect(found(/create(?:De)?[cC]ipheriv\('([^']+)'/g)).toEqual(['aes-128-gcm', 'aes-256-gcm']);
    expect(found(/\b(?:createHash|createHmac|hash|hkdfSync)\('([^']+)'/g)).toEqual(['sha256']);
    // Pauses between attempts, which anybody may guess.
    expect(filesWith(/Math\.random/).toSorted()).toEqual([
      'clients/typescript/core/backoff.ts',
      'daemon/replica/sync/backoff.ts',
      'gateway/blobs/s3-client.ts',
      'gateway/callbacks/deliveries.ts',
      'gateway/lib/backoff.ts',
      'shared/store/remote/retry.ts',
    ]);
  });

  it('believes every certificate or none: no setting of its own turns the check off', () => {
    expect(found(/rejectUnauthorized: (\w+)/g)).toEqual(['true']);
    expect(filesWith(/NODE_TLS_REJECT_UNAUTHORIZED/)).toEqual(['shared/host/certificate-check.ts']);
  });

  it('has pages whose text is escaped but for the style and script that are ours', () => {
    expect(filesWith(/dangerouslySetInnerHTML|\bhtml`/)).toEqual([]);
    expect(filesWith(/from 'hono\/html'/)).toEqual(['gateway/web/pages/document.tsx']);
    expect(found(/\{raw\((\w+)\)\}/g)).toEqual(['HOLD_SCRIPT', 'STYLE']);
    expect(filesWith(/\.innerHTML = |insertAdjacentHTML|document\.write/)).toEqual([]);
    const storing = filesWith(/\b(?:localStorage|sessionStorage|indexedDB|postMessage)\b/);
    expect(storing.filter((path) => path.startsWith('gateway/web/'))).toEqual([]);
  });

  it('writes SQL in the stores alone, and puts no value into its text', () => {
    const sql = /`\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b/;
    expect(filesWith(sql).filter((path) => !inStore(path))).toEqual([]);
    const quoted = sources
      .filter(({ path }) => inStore(path))
      .flatMap(({ text }) => [...text.matchAll(/['"]\$\{([^}]*)\}/g)].map(([, what]) => what));
    expect(new Set(quoted)).toEqual(
      new Set([
        // Our own file name, and table and column names in a copy, quoted as SQL does.
        `copy.replaceAll("'", "''")`,
        `name.replaceAll('"', '""')`,
        // The words of events: letters and digits, quoted as SQL does, and in a search bound as one value.
        `text.replaceAll("'", "''")`,
        'term',
        `isPrefix ? ' *' : ''`,
      ]),
    );
  });
});
