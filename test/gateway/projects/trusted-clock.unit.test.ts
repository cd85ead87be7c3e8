import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  SavedTrustedClock,
  TrustedClock,
  type ClockNotes,
} from '../../../gateway/projects/trusted-clock.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = 1_000_000_000_000;

/** A machine: its clock, and the time that passes. */
class Machine {
  wall = START;
  passed = 5000;
  steady: TrustedClock;

  constructor(notes: ClockNotes | null = null) {
    this.steady = this.#start(notes);
  }

  #start(notes: ClockNotes | null): TrustedClock {
    return new TrustedClock(
      notes,
      () => this.wall,
      () => this.passed,
    );
  }

  /** Answers how long it has yet to run. */
  run(ms: number, wallMs = ms): number {
    this.passed += ms;
    this.wall += wallMs;
    return this.steady.waitMs();
  }

  /** Ends the process, and starts it after a while. */
  off(wallMs: number): void {
    const { notes } = this.steady;
    this.wall += wallMs;
    this.passed = 0;
    this.steady = this.#start(notes);
  }

  /** As of when rows may be deleted, from the first start on. */
  get asOf(): number | null {
    const asOf = this.steady.asOf(this.wall);
    return asOf === null ? null : asOf - START;
  }
}

describe('one run', () => {
  it('trusts the clock an hour after the start', () => {
    const machine = new Machine();
    expect(machine.steady.waitMs()).toBe(HOUR);
    expect(machine.run(HOUR - 1)).toBe(1);
    expect(machine.asOf).toBeNull();
    expect(machine.run(1)).toBe(0);
    expect(machine.asOf).toBe(HOUR);
    expect(machine.run(1000 * HOUR)).toBe(0);
    expect(machine.asOf).toBe(1001 * HOUR);
  });

  it('trusts what was before a jump ahead by more than an hour, until it has run for an hour', () => {
    const machine = new Machine();
    machine.run(HOUR);
    expect(machine.run(0, HOUR)).toBe(0);
    expect(machine.asOf).toBe(2 * HOUR);
    expect(machine.run(0, 1)).toBe(HOUR);
    expect(machine.asOf).toBe(2 * HOUR);
    expect(machine.run(HOUR)).toBe(0);
    expect(machine.run(0, 30 * DAY)).toBe(HOUR);
    expect(machine.run(HOUR / 2)).toBe(HOUR / 2);
    expect(machine.asOf).toBe(3 * HOUR + 1);
  });

  it('knows a jump in small steps, too', () => {
    const machine = new Machine();
    machine.run(HOUR);
    expect(machine.run(0, HOUR / 2)).toBe(0);
    expect(machine.run(0, HOUR / 2)).toBe(0);
    expect(machine.run(0, 1)).toBe(HOUR);
  });

  it('knows a jump of a clock that was set back before', () => {
    const machine = new Machine();
    machine.run(HOUR);
    expect(machine.run(0, -10 * HOUR)).toBe(0);
    expect(machine.run(0, 2 * HOUR)).toBe(HOUR);
  });
});

describe('runs that are shorter than an hour', () => {
  it('trust what the clock has shown for an hour of all of them together', () => {
    const machine = new Machine();
    machine.run(HOUR / 2);
    machine.off(DAY);
    machine.run(HOUR / 2 - 1);
    expect([machine.asOf, machine.steady.waitMs()]).toEqual([null, 1]);
    machine.run(1);
    expect(machine.asOf).toBe(0);
    const second = machine.wall - START;
    machine.run(HOUR / 4);
    for (let day = 0; day < 3; day += 1) {
      machine.off(DAY);
      machine.run(HOUR / 4);
    }
    expect(machine.asOf).toBe(second);
  });

  it('trust none of a clock that was ahead for less than an hour of them', () => {
    const machine = new Machine();
    machine.run(HOUR / 2);
    machine.off(400 * DAY);
    machine.run(HOUR - 1);
    expect(machine.asOf).toBe(0);
    machine.off(-399 * DAY);
    machine.run(HOUR - 1);
    expect(machine.asOf).toBe(0);
    machine.off(HOUR);
    machine.run(1);
    expect(machine.asOf).toBeLessThan(2 * DAY);
  });

  it('begin again after a clock that was ahead for longer', () => {
    const machine = new Machine();
    machine.off(400 * DAY);
    machine.run(HOUR);
    expect(machine.asOf).toBe(400 * DAY + HOUR);
    machine.off(-399 * DAY);
    expect(machine.asOf).toBeNull();
    machine.run(HOUR - 1);
    expect(machine.asOf).toBeNull();
  });

  it('never trust a time that the clock had not shown an hour of running before', () => {
    const step = fc.record({
      isOff: fc.boolean(),
      ms: fc.integer({ min: 0, max: HOUR }),
      jump: fc.constantFrom(0, 0, 0, HOUR / 2, DAY, 100 * DAY, -HOUR, -100 * DAY),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const machine = new Machine();
        const shown: { ran: number; wall: number }[] = [{ ran: 0, wall: START }];
        let ran = 0;
        for (const { isOff, ms, jump } of steps) {
          if (isOff) machine.off(ms + jump);
          else {
            ran += ms;
            machine.run(ms, ms + jump);
          }
          shown.push({ ran, wall: machine.wall });
          const asOf = machine.steady.asOf(machine.wall);
          if (asOf === null) continue;
          expect(asOf).toBeLessThanOrEqual(machine.wall);
          // A step ahead of up to an hour is taken for the drift of a clock.
          const evenly = shown
            .filter((one) => one.ran <= ran - HOUR)
            .map((one) => one.wall + (ran - one.ran) + HOUR);
          expect(asOf).toBeLessThanOrEqual(Math.max(...evenly));
        }
      }),
    );
  });
});

describe('the notes of a run', () => {
  it('are in the data folder; without them, and with damaged ones, it begins again', () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'clock.json');
    let passed = 0;
    const open = () =>
      new SavedTrustedClock(
        folder.path,
        () => START + passed,
        () => passed,
      );
    const first = open();
    passed += HOUR;
    first.close();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      trusted: START + HOUR,
      shown: START + HOUR,
      ranMs: 0,
    });
    const second = open();
    expect(second.asOf(START + HOUR)).toBe(START + HOUR);
    second.close();
    for (const text of ['', 'null', '{"shown":"x"}', '\0']) {
      writeFileSync(file, text);
      const again = open();
      expect(again.asOf(START + HOUR)).toBeNull();
      again.close();
    }
    folder.remove();
  });
});
