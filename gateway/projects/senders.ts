import type { Callbacks } from '../../shared/kernel/context.ts';
import type { Project } from './project.ts';

/** Sends what a project's rows ask for: notifications to people, or agents' mail. */
export interface Sender {
  /** Something is being sent right now. */
  readonly isBusy: boolean;
  /** Something may be due. */
  wake(): void;
  resume(): void;
  close(): void;
}

/** Pushes the events of a project to callbacks. */
export interface PushSender {
  readonly isBusy: boolean;
  /** A push to this destination is due. */
  wake(destination: string): void;
  wakeDue(): Promise<void>;
  /** Routes have changed: cached ones are read again. */
  forget(): void;
  stop(): void;
  resume(): Promise<void>;
  close(): Promise<void>;
}

/** A project's senders, passed in so that a project knows nothing of mail or callbacks. */
export interface Senders {
  readonly callbacks: Callbacks & { deliveriesOf(project: Project): PushSender };
  readonly messaging: {
    notificationsOf(project: Project): Sender;
    mailsOf(project: Project): Sender;
  };
}
