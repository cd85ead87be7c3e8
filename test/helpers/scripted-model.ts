import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the model says at one of its calls: that a tool be called, or a text that ends its turn. */
export type ModelStep =
  | { readonly tool: string; readonly input: object }
  | { readonly text: string };

/** A Messages API whose model takes the next step of a script at each call that offers tools. */
export class ScriptedModel {
  readonly #server: Server;
  readonly #steps: readonly ModelStep[];
  /** What the model was told last, at each of its calls. */
  readonly told: string[] = [];

  private constructor(server: Server, steps: readonly ModelStep[]) {
    this.#server = server;
    this.#steps = steps;
  }

  static async start(steps: readonly ModelStep[]): Promise<ScriptedModel> {
    const server = createServer();
    const model = new ScriptedModel(server, steps);
    server.on('request', (request, response) => {
      const isCall = request.method === 'POST' && request.url?.startsWith('/v1/messages') === true;
      void text(request).then((body) => model.#answer(isCall ? body : null, response));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #answer(body: string | null, response: ServerResponse): void {
    if (body === null) return void response.writeHead(404).end('{}');
    const call = JSON.parse(body) as { tools?: unknown[]; messages: unknown[]; model: string };
    const step = (call.tools ?? []).length > 0 ? this.#next(call.messages) : { text: 'ok' };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type: string, fields: object = {}): unknown =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    const isTool = 'tool' in step;
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { type: 'message', role: 'assistant', model: call.model, content: [], usage };
    send('message_start', { message: { id: `msg_${this.told.length}`, ...message } });
    const id = `toolu_${this.told.length}`;
    const content_block = isTool
      ? { type: 'tool_use', id, name: step.tool, input: {} }
      : { type: 'text', text: '' };
    send('content_block_start', { index: 0, content_block });
    const delta = isTool
      ? { type: 'input_json_delta', partial_json: JSON.stringify(step.input) }
      : { type: 'text_delta', text: step.text };
    send('content_block_delta', { index: 0, delta });
    send('content_block_stop', { index: 0 });
    const stop_reason = isTool ? 'tool_use' : 'end_turn';
    send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });
    send('message_stop');
    response.end();
  }

  #next(messages: readonly unknown[]): ModelStep {
    const told = JSON.stringify(messages.at(-1));
    // The tool's server isn't there yet, so the same step comes again.
    if (!told.includes('No such tool available')) this.told.push(told);
    return this.#steps[this.told.length - 1] ?? { text: 'Nothing more.' };
  }
}
