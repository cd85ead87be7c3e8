import type { RequestView } from '../../../gateway/lib/approvals.ts';
import { FakeClock } from '../../helpers/gateway.ts';
import { aRequest, MemoryDesk } from './memory-desk.ts';
import { PagesServer } from './pages-server.ts';

/** A desk and its pages at half past eleven of 2 January 2026, UTC. */
export class Setting {
  readonly clock: FakeClock;
  readonly desk: MemoryDesk;
  readonly server: PagesServer;

  private constructor(clock: FakeClock, desk: MemoryDesk, server: PagesServer) {
    this.clock = clock;
    this.desk = desk;
    this.server = server;
  }

  static async start(): Promise<Setting> {
    const clock = new FakeClock(Date.UTC(2026, 0, 2, 11, 30));
    const desk = new MemoryDesk(clock);
    return new Setting(clock, desk, await PagesServer.start(desk));
  }

  /** A request with the link `/a/owner` for the owner and `/a/ops` for another channel. */
  ask(change: Partial<RequestView> = {}): void {
    this.desk.ask(aRequest(this.clock.now(), change), { owner: 'owner', ops: 'ops team' });
  }

  async stop(): Promise<void> {
    await this.server.stop();
    const [failure] = this.server.failures;
    if (failure !== undefined) throw new Error('The pages failed inside.', { cause: failure });
  }
}

/** The words of a page as a person reads them. */
export function wordsOf(html: string): string {
  return html
    .replace(/^[^]*<body>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
}
