type Method = (params: never) => unknown;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

/** Answers calls of the parent process by these methods, and ends when the parent is gone. */
export function answerCalls(methods: Readonly<Record<string, Method>>): void {
  process.on('message', (call: Call) => {
    void answer(methods, call);
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ ready: true });
}

async function answer(methods: Readonly<Record<string, Method>>, call: Call): Promise<void> {
  try {
    const method = methods[call.method];
    if (!method) throw new Error(`There is no method ${call.method}.`);
    process.send?.({ id: call.id, result: await method(call.params as never) });
  } catch (error) {
    const text = error instanceof Error ? error.stack : String(error);
    process.send?.({ id: call.id, error: text });
  }
}
