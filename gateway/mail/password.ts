/** A text that shows itself to nobody who prints, logs or serializes what holds it. */
export class Password {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }
}
