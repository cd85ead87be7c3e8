/** How often each kind of step, each refusal and each state was met: a run that never reached one proves nothing about it. */
export class Coverage {
  readonly #counts = new Map<string, number>();
  #steps = 0;

  get steps(): number {
    return this.#steps;
  }

  step(kind: string): void {
    this.#steps += 1;
    this.#add(`step: ${kind}`);
  }

  code(code: string): void {
    this.#add(`code: ${code}`);
  }

  state(state: string): void {
    this.#add(`state: ${state}`);
  }

  count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  toString(): string {
    const lines = [...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return lines.map(([name, count]) => `${String(count).padStart(8)}  ${name}`).join('\n');
  }

  #add(name: string): void {
    this.#counts.set(name, this.count(name) + 1);
  }
}
