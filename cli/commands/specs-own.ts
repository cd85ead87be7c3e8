import type { CommandSpec } from '../command.ts';

/** Commands around the interface itself: the stored key and raw calls. */
export const ownCommands: readonly CommandSpec[] = [
  {
    words: ['auth', 'token'],
    summary: 'Print the API key that commands send.',
    description:
      'It comes from SVC_API_KEY, or else from the stored profile. Give it to a program of yours as its bearer token.',
    args: [],
    options: [],
    examples: ['auth token', 'auth token --profile work'],
    load: () => import('./auth-token.ts'),
  },
  {
    words: ['api'],
    summary: 'Send a request to the interface and print the answer as it is.',
    description:
      'For what no command covers, and for trying things out. The key, the agent and an Idempotency-Key are added; an error answer is printed too and sets the exit code.',
    args: [
      {
        name: 'method',
        required: true,
        summary: 'GET, POST, PUT or DELETE',
        choices: ['GET', 'POST', 'PUT', 'DELETE'],
      },
      {
        name: 'path',
        required: true,
        summary: 'The path with its query, such as /v1/inbox?limit=5',
      },
    ],
    options: [
      {
        flag: 'body',
        value: 'JSON',
        summary: 'What to send: JSON, @file or - for standard input',
      },
      {
        flag: 'header',
        short: 'H',
        value: 'HEADER',
        summary: 'One more header, as "Name: value"; may be repeated',
        repeatable: true,
      },
    ],
    writes: true,
    examples: [
      'api GET /v1/whoami',
      `api POST /v1/inbox/claim --body '{"event_id":"evt_01j9z3k4m5n6p7q8r9s0t1v2w3"}'`,
      'api GET /v1/openapi.json > openapi.json',
    ],
    load: () => import('./api.ts'),
  },
];
