import type { Carrier, Notification } from '../../../gateway/approvals/approvals.ts';
import type { SendResult } from '../../../gateway/lib/send-result.ts';
import { until } from '../callbacks/callback-receiver.ts';

interface Sending {
  readonly message: Notification;
  readonly address: string;
  readonly id: string;
  readonly end: (sent: SendResult) => void;
}

export const SENT: SendResult = { outcome: 'sent', messageId: 'm-1' };

export function later(retryAfterSeconds: number | null = null): SendResult {
  return { outcome: 'later', retryAfterSeconds, reason: 'not now' };
}

/** Somebody else's server: it answers as it is told, or not until it is told. */
export class TestCarrier implements Carrier {
  readonly got: Sending[] = [];
  answer: SendResult | null;

  constructor(answer: SendResult | null = SENT) {
    this.answer = answer;
  }

  send(
    message: Notification,
    { address, id }: { address: string; id: string },
  ): Promise<SendResult> {
    return new Promise((end) => {
      this.got.push({ message, address, id, end });
      if (this.answer) end(this.answer);
    });
  }

  /** Once so many have come, in all. */
  async until(count: number): Promise<void> {
    await until(
      async () => this.got.length,
      (length) => length === count,
    );
  }

  /** The link of a message that asked, or that confirms an address. */
  tokenOf(nth: number): string {
    const message = this.got[nth]?.message;
    return message && 'token' in message ? message.token : '';
  }

  /** Answers whatever still waits, so that the gateway can close. */
  endAll(): void {
    for (const { end } of this.got) end(later());
  }
}
