import {
  hex,
  isoSeconds,
  numericId,
  unixSeconds,
  uuid,
  type Sample,
  type WebhookKind,
} from './fresh.ts';
import {
  hookTarget,
  issue,
  pullRequest,
  repository,
  repositoryUrl,
  repositoryWeb,
  user,
} from './github-parts.ts';

const REPOSITORY_CREATED_SECONDS = 1_710_753_164;
const HOOK_ID = 498_203_771;
const ISSUE_NUMBER = 214;
const PULL_NUMBER = 231;

function kind(
  name: string,
  summary: string,
  fields: () => Record<string, unknown>,
): WebhookKind<'github'> {
  const [event = name, action] = name.split('.');
  const build = (): Sample => {
    const { repository: own = repository(), ...rest } = fields();
    const head = action === undefined ? {} : { action };
    const payload = { ...head, ...rest, repository: own, sender: user() };
    return { headers: deliveryHeaders(event), payload };
  };
  return { kind: `github.${name}`, verification: 'github', summary, build };
}

function deliveryHeaders(event: string): Record<string, string> {
  return {
    accept: '*/*',
    'content-type': 'application/json',
    'user-agent': `GitHub-Hookshot/${hex(7)}`,
    'x-github-delivery': uuid(),
    'x-github-event': event,
    'x-github-hook-id': String(HOOK_ID),
    'x-github-hook-installation-target-id': hookTarget,
    'x-github-hook-installation-target-type': 'repository',
  };
}

function ping(): Record<string, unknown> {
  const url = `${repositoryUrl}/hooks/${HOOK_ID}`;
  return {
    zen: 'Small steps arrive sooner.',
    hook_id: HOOK_ID,
    hook: {
      type: 'Repository',
      id: HOOK_ID,
      name: 'web',
      active: true,
      events: ['issues', 'pull_request', 'push'],
      config: { content_type: 'json', insecure_ssl: '0', url: 'https://example.com/hook' },
      updated_at: isoSeconds(),
      created_at: isoSeconds(),
      url,
      test_url: `${url}/test`,
      ping_url: `${url}/pings`,
      last_response: { code: null, status: 'unused', message: null },
    },
  };
}

function push(): Record<string, unknown> {
  const before = hex(40);
  const after = hex(40);
  const person = { name: 'Mira Okafor', email: 'mira@example.com', username: 'mira-okafor' };
  const commit = {
    id: after,
    tree_id: hex(40),
    distinct: true,
    message: 'Round predicted heights to a centimetre',
    timestamp: isoSeconds(90),
    url: `${repositoryWeb}/commit/${after}`,
    author: person,
    committer: person,
    added: ['src/round.ts'],
    removed: [],
    modified: ['src/table.ts', 'README.md'],
  };
  return {
    ref: 'refs/heads/main',
    before,
    after,
    // Unlike all other events, pushes give these two in seconds.
    repository: {
      ...repository(),
      created_at: REPOSITORY_CREATED_SECONDS,
      pushed_at: unixSeconds(),
    },
    pusher: { name: 'mira-okafor', email: 'mira@example.com' },
    created: false,
    deleted: false,
    forced: false,
    base_ref: null,
    compare: `${repositoryWeb}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
    commits: [commit],
    head_commit: commit,
  };
}

function issueComment(): Record<string, unknown> {
  const id = numericId();
  return {
    issue: issue(ISSUE_NUMBER, 'open'),
    comment: {
      url: `${repositoryUrl}/issues/comments/${id}`,
      html_url: `${repositoryWeb}/issues/${ISSUE_NUMBER}#issuecomment-${id}`,
      issue_url: `${repositoryUrl}/issues/${ISSUE_NUMBER}`,
      id,
      node_id: `IC_${hex(16)}`,
      user: user(),
      created_at: isoSeconds(),
      updated_at: isoSeconds(),
      author_association: 'MEMBER',
      body: 'Thank you, I can see it here too.',
    },
  };
}

function review(): Record<string, unknown> {
  const id = numericId();
  const pull = `${repositoryWeb}/pull/${PULL_NUMBER}`;
  const pullUrl = `${repositoryUrl}/pulls/${PULL_NUMBER}`;
  return {
    review: {
      id,
      node_id: `PRR_${hex(16)}`,
      user: user('jonas-lindqvist', 70_455_218),
      body: 'Reads well. One test for the southern hemisphere, please.',
      commit_id: hex(40),
      submitted_at: isoSeconds(),
      state: 'approved',
      html_url: `${pull}#pullrequestreview-${id}`,
      pull_request_url: pullUrl,
      author_association: 'CONTRIBUTOR',
      _links: {
        html: { href: `${pull}#pullrequestreview-${id}` },
        pull_request: { href: pullUrl },
      },
    },
    pull_request: reviewedPullRequest(),
  };
}

/** Reviews carry a pull request without counts and merge state. */
function reviewedPullRequest(): Record<string, unknown> {
  const whole = pullRequest({ number: PULL_NUMBER, state: 'open' });
  const left = Object.entries(whole).filter(([name]) => !COUNTED.has(name));
  return Object.fromEntries(left);
}

const COUNTED: ReadonlySet<string> = new Set([
  'merged',
  'mergeable',
  'mergeable_state',
  'merged_by',
  'comments',
  'review_comments',
  'maintainer_can_modify',
  'commits',
  'additions',
  'deletions',
  'changed_files',
]);

function workflowRun(): Record<string, unknown> {
  const id = numericId();
  const workflowId = 92_410_337;
  const url = `${repositoryUrl}/actions/runs/${id}`;
  const workflowUrl = `${repositoryUrl}/actions/workflows/${workflowId}`;
  return {
    workflow_run: {
      id,
      name: 'CI',
      node_id: `WFR_${hex(16)}`,
      head_branch: 'main',
      head_sha: hex(40),
      run_number: 583,
      event: 'push',
      status: 'completed',
      conclusion: 'failure',
      workflow_id: workflowId,
      url,
      html_url: `${repositoryWeb}/actions/runs/${id}`,
      pull_requests: [],
      created_at: isoSeconds(240),
      updated_at: isoSeconds(),
      jobs_url: `${url}/jobs`,
      logs_url: `${url}/logs`,
      artifacts_url: `${url}/artifacts`,
      cancel_url: `${url}/cancel`,
      rerun_url: `${url}/rerun`,
      workflow_url: workflowUrl,
    },
    workflow: {
      id: workflowId,
      node_id: 'W_kwDOLfd9U84FggmB',
      name: 'CI',
      path: '.github/workflows/ci.yml',
      state: 'active',
      created_at: '2024-03-18T09:40:02Z',
      updated_at: '2024-03-18T09:40:02Z',
      url: workflowUrl,
      html_url: `${repositoryWeb}/blob/main/.github/workflows/ci.yml`,
      badge_url: `${repositoryWeb}/workflows/CI/badge.svg`,
    },
  };
}

function release(): Record<string, unknown> {
  const id = numericId();
  const url = `${repositoryUrl}/releases/${id}`;
  return {
    release: {
      url,
      assets_url: `${url}/assets`,
      upload_url: `https://uploads.github.com/repos/harbor-lane/tide-tables/releases/${id}/assets{?name,label}`,
      html_url: `${repositoryWeb}/releases/tag/v2.4.0`,
      id,
      node_id: `RE_${hex(16)}`,
      tag_name: 'v2.4.0',
      target_commitish: 'main',
      name: 'v2.4.0',
      draft: false,
      author: user(),
      prerelease: false,
      created_at: isoSeconds(300),
      published_at: isoSeconds(),
      assets: [],
      tarball_url: `${repositoryUrl}/tarball/v2.4.0`,
      zipball_url: `${repositoryUrl}/zipball/v2.4.0`,
      body: 'Time zones come from the harbour.',
    },
  };
}

const openPull = () => ({
  number: PULL_NUMBER,
  pull_request: pullRequest({ number: PULL_NUMBER, state: 'open' }),
});

const mergedPull = () => ({
  number: PULL_NUMBER,
  pull_request: pullRequest({ number: PULL_NUMBER, state: 'closed', merged: true }),
});

/** Deliveries like those of a GitHub repository's webhook. */
export const githubKinds: readonly WebhookKind<'github'>[] = [
  kind('ping', 'A new webhook says hello.', ping),
  kind('push', 'A commit is pushed to main.', push),
  kind('pull_request.opened', 'A pull request is opened.', openPull),
  kind('pull_request.synchronize', 'Commits are added to a pull request.', () => ({
    ...openPull(),
    before: hex(40),
    after: hex(40),
  })),
  kind('pull_request.closed', 'A pull request is merged.', mergedPull),
  kind('pull_request_review.submitted', 'A pull request is approved.', review),
  kind('issues.opened', 'An issue is opened.', () => ({ issue: issue(ISSUE_NUMBER, 'open') })),
  kind('issues.closed', 'An issue is closed.', () => ({ issue: issue(ISSUE_NUMBER, 'closed') })),
  kind('issue_comment.created', 'Somebody comments on an issue.', issueComment),
  kind('workflow_run.completed', 'A workflow fails.', workflowRun),
  kind('release.published', 'A release is published.', release),
];
