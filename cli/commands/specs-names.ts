// Names that arguments take, apart from what they stand for, so that completion loads none of it.

/** What `svc trigger` can send. */
export const SAMPLE_NAMES = [
  'github.ping',
  'github.push',
  'github.pull_request.opened',
  'github.pull_request.synchronize',
  'github.pull_request.closed',
  'github.pull_request_review.submitted',
  'github.issues.opened',
  'github.issues.closed',
  'github.issue_comment.created',
  'github.workflow_run.completed',
  'github.release.published',
  'stripe.checkout.session.completed',
  'stripe.payment_intent.succeeded',
  'stripe.payment_intent.payment_failed',
  'stripe.invoice.paid',
  'stripe.invoice.payment_failed',
  'stripe.customer.created',
  'stripe.customer.subscription.created',
  'stripe.customer.subscription.updated',
  'stripe.customer.subscription.deleted',
  'stripe.charge.refunded',
  'stripe.charge.dispute.created',
  'webhook',
  'email',
  'email.reply',
  'email.bounce',
];

/** What `svc mcp install` can set up. */
export const MCP_CLIENT_NAMES = ['claude-code', 'codex', 'cursor'] as const;

/** What `svc completion` has a script for. */
export const SHELL_NAMES = ['bash', 'zsh', 'fish'] as const;

/** Pages of the web inbox, which `svc open` goes to. */
export const WEB_PAGES = [
  'requests',
  'events',
  'routes',
  'sources',
  'channels',
  'policy',
  'keys',
  'sessions',
  'ledger',
  'usage',
] as const;
