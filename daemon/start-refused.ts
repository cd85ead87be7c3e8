/** The daemon cannot start until a person does something; the message says what. */
export class StartRefused extends Error {
  /** `held`: another daemon has the data. `port`: the port cannot be used. */
  readonly kind: 'held' | 'port';

  constructor(message: string, kind: 'held' | 'port') {
    super(message);
    this.name = 'StartRefused';
    this.kind = kind;
  }
}
