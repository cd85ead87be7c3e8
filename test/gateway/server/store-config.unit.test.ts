import { describe, expect, it } from 'vitest';
import { readServerConfig } from '../../../gateway/server/config.ts';
import { readStoreConfig } from '../../../gateway/projects/store-config.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const URL = 'libsql://{project}-team.example.com';
const TOKEN = 'token-of-the-databases';
const CREATE_URL = 'https://admin.example.com/v1/namespaces/{project}/create';

/** What is complained of. */
function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  const problems: string[] = [];
  readStoreConfig(env, (problem) => problems.push(problem));
  return problems;
}

describe('the settings of a libSQL server', () => {
  it('are none where none are set: databases are files', () => {
    expect(readStoreConfig({}, () => undefined)).toBeNull();
    expect(readStoreConfig({ SVC_DATABASE_URL: '' }, () => undefined)).toBeNull();
  });

  it.each([
    URL,
    'libsql://db.example.com/{project}?tls=0',
    'https://{project}.example.com',
    'http://127.0.0.1:8080/{project}/',
  ])('take %s', (url) => {
    expect(problemsOf({ SVC_DATABASE_URL: url })).toEqual([]);
    const store = readStoreConfig({ SVC_DATABASE_URL: url }, () => undefined);
    expect(store).toEqual({ url, token: null, maker: null });
  });

  it('take tokens, and where databases are made', () => {
    const env = {
      SVC_DATABASE_URL: URL,
      SVC_DATABASE_TOKEN: TOKEN,
      SVC_DATABASE_CREATE_URL: CREATE_URL,
      SVC_DATABASE_CREATE_TOKEN: 'token-of-the-maker',
    };
    expect(problemsOf(env)).toEqual([]);
    expect(readStoreConfig(env, () => undefined)).toEqual({
      url: URL,
      token: TOKEN,
      maker: { url: CREATE_URL, token: 'token-of-the-maker' },
    });
  });

  const PLACE =
    'SVC_DATABASE_URL: `{project}` is missing. Each project has a database of its own: `libsql://{project}-team.example.com`.';
  const ADDRESS =
    'SVC_DATABASE_URL must begin with libsql://, https:// or http://, without a user, a password or a `#` part.';
  const PARAMETER =
    'SVC_DATABASE_URL has a parameter: libsql:// alone may have one, which is `tls=0`.';
  const MAKER =
    'SVC_DATABASE_CREATE_URL begins with https:// or http://, without user or password.';

  it.each<[NodeJS.ProcessEnv, string[]]>([
    [{ SVC_DATABASE_URL: 'libsql://team.example.com' }, [PLACE]],
    [{ SVC_DATABASE_URL: 'ws://{project}.example.com' }, [ADDRESS]],
    [{ SVC_DATABASE_URL: '{project}.example.com' }, [ADDRESS]],
    [{ SVC_DATABASE_URL: 'https://ana:word@{project}.example.com' }, [ADDRESS]],
    [{ SVC_DATABASE_URL: 'https://{project}.example.com/#part' }, [ADDRESS]],
    [{ SVC_DATABASE_URL: 'nonsense' }, [PLACE, ADDRESS]],
    [{ SVC_DATABASE_URL: 'libsql://{project}.example.com?authToken=word' }, [PARAMETER]],
    [{ SVC_DATABASE_URL: 'https://{project}.example.com?tls=0' }, [PARAMETER]],
    [
      { SVC_DATABASE_URL: URL, SVC_DATABASE_TOKEN: 'two words' },
      ['SVC_DATABASE_TOKEN is one line of visible characters.'],
    ],
    [
      {
        SVC_DATABASE_URL: URL,
        SVC_DATABASE_CREATE_URL: CREATE_URL,
        SVC_DATABASE_CREATE_TOKEN: 'ö',
      },
      ['SVC_DATABASE_CREATE_TOKEN is one line of visible characters.'],
    ],
    [{ SVC_DATABASE_URL: URL, SVC_DATABASE_CREATE_URL: 'libsql://x.example.com' }, [MAKER]],
    [{ SVC_DATABASE_URL: URL, SVC_DATABASE_CREATE_URL: 'https://a:b@x.example.com' }, [MAKER]],
    [
      { SVC_DATABASE_URL: URL, SVC_DATABASE_CREATE_TOKEN: 'word' },
      ['SVC_DATABASE_CREATE_TOKEN is set, and SVC_DATABASE_CREATE_URL is not.'],
    ],
    [{ SVC_DATABASE_TOKEN: 'word' }, ['SVC_DATABASE_TOKEN is set, and SVC_DATABASE_URL is not.']],
    [
      { SVC_DATABASE_CREATE_URL: CREATE_URL },
      ['SVC_DATABASE_CREATE_URL is set, and SVC_DATABASE_URL is not.'],
    ],
  ])('complain of %j', (env, problems) => {
    expect(problemsOf(env)).toEqual(problems);
  });

  it('are known by name, hidden from the log, and remarked on where rows travel in clear', () => {
    const folder = temporaryFolder();
    const given = {
      SVC_DATA: folder.path,
      SVC_DATABASE_TOKEN: TOKEN,
      SVC_DATABASE_CREATE_URL: CREATE_URL,
      SVC_DATABASE_CREATE_TOKEN: 'token-of-the-maker',
    };
    const { secrets, warnings } = readServerConfig({ ...given, SVC_DATABASE_URL: URL }, null);
    expect(secrets).toEqual([TOKEN, 'token-of-the-maker']);
    expect(warnings.filter((text) => text.includes('SVC_DATABASE'))).toEqual([]);
    expect(warnings).toContain(
      "SVC_BLOBS isn't a bucket: files stay in the data folder, where other gateways can't find them.",
    );
    expect(warnings).toContain(
      'Mail to people stays in the data folder of the gateway that wrote it.',
    );
    const webhook =
      'SVC_TELEGRAM_MODE is webhook: if a tap and its reply reach different gateways, the person is asked to reply again. With `poll`, one gateway takes everything.';
    expect(warnings).not.toContain(webhook);
    const bot = {
      SVC_TELEGRAM_TOKEN: '8123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw',
      SVC_TELEGRAM_MODE: 'webhook',
      SVC_PUBLIC_URL: 'https://svc.example.com',
    };
    const withBot = readServerConfig({ ...given, ...bot, SVC_DATABASE_URL: URL }, null);
    expect(withBot.warnings).toContain(webhook);
    for (const url of ['http://{project}.example.com', `${URL}?tls=0`]) {
      const open = readServerConfig({ ...given, SVC_DATABASE_URL: url }, null);
      expect(open.warnings).toContain('SVC_DATABASE_URL has no TLS: rows travel unencrypted.');
    }
    folder.remove();
  });
});
