import type { RequestView } from '../../../../gateway/approvals/approvals.ts';
import { FakeClock } from '../../../helpers/gateway.ts';
import { aRequest, MemoryApprovals } from './memory-approvals.ts';
import { PagesServer } from './pages-server.ts';

/** A desk and its pages at half past eleven of 2 January 2026, UTC. */
export class Setting {
  readonly clock: FakeClock;
  readonly approvals: MemoryApprovals;
  readonly server: PagesServer;

  private constructor(clock: FakeClock, approvals: MemoryApprovals, server: PagesServer) {
    this.clock = clock;
    this.approvals = approvals;
    this.server = server;
  }

  static async start(): Promise<Setting> {
    const clock = new FakeClock(Date.UTC(2026, 0, 2, 11, 30));
    const approvals = new MemoryApprovals(clock);
    return new Setting(clock, approvals, await PagesServer.start(approvals));
  }

  /** A request with the link `/a/owner` for the owner and `/a/ops` for another channel. */
  ask(change: Partial<RequestView> = {}): void {
    this.approvals.ask(aRequest(this.clock.now(), change), { owner: 'owner', ops: 'ops team' });
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
