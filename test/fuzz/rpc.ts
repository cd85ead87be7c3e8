import { parseObject, isObject } from '../../shared/lib/guards.ts';

const INTERNAL_ERROR = -32_603;

/** The id that its answer must have; null if no id could be read. */
export function sentId(sent: unknown): unknown {
  const message = Buffer.isBuffer(sent) ? parseObject(sent.toString('utf8')) : sent;
  const id = isObject(message) && Object.hasOwn(message, 'id') ? message['id'] : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** What every JSON-RPC answer must satisfy. An answer to an unreadable message may lack its id. */
export function rpcFaults(answer: unknown, id: unknown): Record<string, boolean> {
  if (!isObject(answer)) return { 'it is an object': false };
  const { error, result } = answer;
  const isError = isObject(error);
  return {
    'it is of JSON-RPC': answer['jsonrpc'] === '2.0',
    [`it has the id ${JSON.stringify(id)?.slice(0, 100)}`]:
      answer['id'] === id || (isError && answer['id'] === null),
    'it is a result or an error': isError !== isObject(result),
    'it is no fault of ours': !isError || error['code'] !== INTERNAL_ERROR,
    'an error has a code and a message':
      !isError || (Number.isInteger(error['code']) && typeof error['message'] === 'string'),
  };
}
