/** A password that stays hidden when its owner object is printed, logged or serialized. */
export class Password {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }
}
