import type { Caller } from '../../shared/kernel/context.ts';
import { asServiceError, type ErrorCode } from '../../shared/lib/errors.ts';
import { operations } from '../../shared/operations/index.ts';
import type { TestGateway } from './gateway.ts';

interface Called {
  /** `ok`, or the code of the refusal. */
  readonly code: 'ok' | ErrorCode;
  readonly value: Record<string, unknown>;
}

export type Call = (name: string, input: Record<string, unknown>) => Promise<Called>;

/** Calls operations with a key straight at the executor, without HTTP between. */
export async function caller(
  gateway: TestGateway,
  apiKey: string,
): Promise<{ call: Call; identity: Caller }> {
  const { executor } = gateway.gateway;
  const identity = await executor.authenticate({
    authorization: `Bearer ${apiKey}`,
    agentHeader: undefined,
    userAgent: undefined,
    requestId: 'test',
    idempotencyKey: undefined,
  });
  const never = new AbortController().signal;
  const call: Call = async (name, input) => {
    const operation = operations.find((one) => one.name === name);
    if (!operation) throw new Error(`There is no operation ${name}.`);
    try {
      const { value } = await executor.execute(operation, input, identity, never);
      return { code: 'ok', value: value as Record<string, unknown> };
    } catch (error) {
      return { code: asServiceError(error).code, value: {} };
    }
  };
  return { call, identity };
}
