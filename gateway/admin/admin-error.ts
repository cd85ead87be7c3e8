/** Something that an operator must fix; the message says what. */
export class AdminError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AdminError';
  }
}
