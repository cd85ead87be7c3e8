import { Receiver } from '../gateway/callbacks/callback-receiver.ts';

/** Takes what is sent to `…/works` and everywhere else, and fails at `…/breaks`. */
export async function startReceiver(): Promise<Receiver> {
  const receiver = await Receiver.start();
  receiver.answer((response, { path }) => {
    response.writeHead(path.endsWith('/breaks') ? 500 : 204).end();
  });
  return receiver;
}
