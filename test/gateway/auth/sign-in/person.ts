import type * as z from 'zod';
import {
  keyAnswer,
  pollAnswer,
  projectAnswer,
  startAnswer,
} from '../../../../shared/api/sign-in.ts';
import type { TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import { readPage } from '../../../helpers/reading.ts';

type Body = Record<string, unknown>;

/** An answer, or the error of a refusal. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
  readonly code: string | null;
  readonly details: Body | null;
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends JSON without a key. */
export async function post(
  gateway: Pick<TestGateway, 'url'>,
  path: string,
  body: unknown,
  { headers = {} }: Sent = {},
): Promise<Answered> {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const parsed = JSON.parse(text) as Body & { error?: { code: string; details?: Body } };
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: parsed,
    code: parsed.error?.code ?? null,
    details: parsed.error?.details ?? null,
  };
}

/** The signature in the form behind a link, whose page somebody read. */
export async function csrfOf(link: string): Promise<string> {
  const html = await (await fetch(link)).text();
  await readPage(link);
  return /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? '';
}

/** Somebody at a terminal who reads mail at an address. */
export class Person {
  readonly gateway: TestGateway;
  readonly email: string;

  constructor(gateway: TestGateway, email: string) {
    this.gateway = gateway;
    this.email = email;
  }

  /** Begins a sign-in; the answer is as promised, and the link has been mailed. */
  async start(client?: Body): Promise<z.output<typeof startAnswer> & { readonly link: string }> {
    const before = tokensOf(this.gateway.folder, 's').length;
    const answer = await post(this.gateway, '/v1/auth/start', {
      email: this.email,
      ...(client && { client }),
    });
    if (answer.status !== 200) throw new Error(answer.text);
    const token = await linkToken(this.gateway.folder, 's', before + 1);
    return { ...startAnswer.parse(answer.body), link: `${this.gateway.url}/s/${token}` };
  }

  /** Signs in, up to the button on the page. */
  async confirmed(): Promise<string> {
    const started = await this.start();
    await this.confirm(started);
    return started.login_id;
  }

  /** Types the code of the terminal on the page behind the mailed link; answers the words of the next page. */
  confirm({ link, user_code: code }: { link: string; user_code: string }): Promise<string> {
    return visit(link, { button: 'Confirm', typed: { code } });
  }

  poll(loginId: string): Promise<Answered> {
    return post(this.gateway, '/v1/auth/poll', { login_id: loginId });
  }

  /** The projects of the account, as a confirmed sign-in is told them. */
  async projects(loginId: string): Promise<z.output<typeof pollAnswer>['projects']> {
    const answer = await this.poll(loginId);
    if (answer.status !== 200) throw new Error(answer.text);
    return pollAnswer.parse(answer.body).projects;
  }

  create(loginId: string, body: Body = {}, sent: Sent = {}): Promise<Answered> {
    const whole = { login_id: loginId, name: 'Acme Shop', ...body };
    return post(this.gateway, '/v1/projects', whole, sent);
  }

  /** A new project, by a sign-in of its own. */
  async project(body: Body = {}): Promise<z.output<typeof projectAnswer>> {
    const answer = await this.create(await this.confirmed(), body);
    if (answer.status !== 201) throw new Error(answer.text);
    return projectAnswer.parse(answer.body);
  }

  takeKey(loginId: string, body: Body, sent: Sent = {}): Promise<Answered> {
    return post(this.gateway, '/v1/auth/keys', { login_id: loginId, ...body }, sent);
  }

  /** A key of a project, by a sign-in of its own. */
  async key(projectId: string, body: Body = {}): Promise<z.output<typeof keyAnswer>> {
    const answer = await this.takeKey(await this.confirmed(), { project_id: projectId, ...body });
    if (answer.status !== 201) throw new Error(answer.text);
    return keyAnswer.parse(answer.body);
  }
}
