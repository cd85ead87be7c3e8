import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The published OpenAPI document as what it is: a promise about answers. */
export class Contract {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #paths: ReadonlyMap<string, readonly [path: string, method: string]>;

  constructor(document: unknown) {
    this.#ajv.addSchema(document as Record<string, unknown>, 'openapi');
    const { paths } = document as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    this.#paths = new Map(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(
          ([method, one]) => [one.operationId ?? `${method} ${path}`, [path, method]] as const,
        ),
      ),
    );
  }

  /** What is wrong with an answer; nothing when it is as promised. */
  faults(operation: string, status: number, body: unknown): string[] {
    const validate = this.#schema(operation, status);
    if (!validate) return [`${operation} promises no answer ${status}`];
    validate(body);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  #schema(operation: string, status: number): ValidateFunction | undefined {
    const [path = '', method = ''] = this.#paths.get(operation) ?? [];
    const parts = ['paths', path, method, 'responses', String(status)];
    const tail = ['content', 'application/json', 'schema'];
    const pointer = [...parts, ...tail]
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    return this.#ajv.getSchema(`openapi#/${pointer}`);
  }
}
