import { hex, isoSeconds, numericId } from './fresh.ts';

const API = 'https://api.github.com';
const WEB = 'https://github.com';
const OWNER = 'harbor-lane';
const REPOSITORY = 'tide-tables';
const FULL_NAME = `${OWNER}/${REPOSITORY}`;
const REPOSITORY_ID = 771_204_563;
const CREATED = '2024-03-18T09:12:44Z';

/** The sample repository's API address. */
export const repositoryUrl = `${API}/repos/${FULL_NAME}`;
/** The sample repository's web address. */
export const repositoryWeb = `${WEB}/${FULL_NAME}`;
export const hookTarget = String(REPOSITORY_ID);

/** A user, as GitHub describes one. */
export function user(login = 'mira-okafor', id = 61_820_377): Record<string, unknown> {
  const url = `${API}/users/${login}`;
  return {
    login,
    id,
    node_id: Buffer.from(`04:User${id}`).toString('base64'),
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    gravatar_id: '',
    url,
    html_url: `${WEB}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: 'User',
    site_admin: false,
  };
}

/** The repository in all samples. */
export function repository(): Record<string, unknown> {
  return {
    id: REPOSITORY_ID,
    node_id: 'R_kgDOLfd9Uw',
    name: REPOSITORY,
    full_name: FULL_NAME,
    private: false,
    owner: user(OWNER, 48_113_902),
    html_url: repositoryWeb,
    description: 'Tide predictions for small harbours',
    fork: false,
    url: repositoryUrl,
    hooks_url: `${repositoryUrl}/hooks`,
    branches_url: `${repositoryUrl}/branches{/branch}`,
    commits_url: `${repositoryUrl}/commits{/sha}`,
    compare_url: `${repositoryUrl}/compare/{base}...{head}`,
    issues_url: `${repositoryUrl}/issues{/number}`,
    pulls_url: `${repositoryUrl}/pulls{/number}`,
    created_at: CREATED,
    updated_at: isoSeconds(3600),
    pushed_at: isoSeconds(60),
    git_url: `git://github.com/${FULL_NAME}.git`,
    ssh_url: `git@github.com:${FULL_NAME}.git`,
    clone_url: `${repositoryWeb}.git`,
    homepage: null,
    size: 4182,
    stargazers_count: 37,
    watchers_count: 37,
    language: 'TypeScript',
    has_issues: true,
    has_projects: false,
    has_downloads: true,
    has_wiki: false,
    has_pages: false,
    forks_count: 4,
    archived: false,
    disabled: false,
    open_issues_count: 6,
    license: null,
    forks: 4,
    open_issues: 6,
    watchers: 37,
    default_branch: 'main',
  };
}

export function issue(number: number, state: 'open' | 'closed'): Record<string, unknown> {
  const url = `${repositoryUrl}/issues/${number}`;
  return {
    url,
    repository_url: repositoryUrl,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: `${repositoryWeb}/issues/${number}`,
    id: numericId(),
    node_id: `I_${hex(16)}`,
    number,
    title: 'Low tide is an hour late after the clock change',
    user: user('jonas-lindqvist', 70_455_218),
    labels: [
      {
        id: 6_021_558_410,
        node_id: 'LA_kwDOLfd9U88AAAABZu',
        url: `${repositoryUrl}/labels/bug`,
        name: 'bug',
        color: 'd73a4a',
        default: true,
        description: "Something isn't working",
      },
    ],
    state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: 1,
    created_at: isoSeconds(7200),
    updated_at: isoSeconds(),
    closed_at: state === 'closed' ? isoSeconds() : null,
    author_association: 'CONTRIBUTOR',
    body: 'The table for Sunday shows 07:10, the harbour says 06:10.',
  };
}

interface PullOptions {
  readonly number: number;
  readonly state: 'open' | 'closed';
  readonly merged?: boolean;
}

/** A pull request from a branch of the same repository. */
export function pullRequest({
  number,
  state,
  merged = false,
}: PullOptions): Record<string, unknown> {
  const url = `${repositoryUrl}/pulls/${number}`;
  const closedAt = state === 'closed' ? isoSeconds() : null;
  return {
    url,
    id: numericId(),
    node_id: `PR_${hex(16)}`,
    html_url: `${repositoryWeb}/pull/${number}`,
    diff_url: `${repositoryWeb}/pull/${number}.diff`,
    patch_url: `${repositoryWeb}/pull/${number}.patch`,
    issue_url: `${repositoryUrl}/issues/${number}`,
    number,
    state,
    locked: false,
    title: 'Read the time zone from the harbour, not from the server',
    user: user(),
    body: 'Fixes the hour that was lost in March.',
    created_at: isoSeconds(5400),
    updated_at: isoSeconds(),
    closed_at: closedAt,
    merged_at: merged ? closedAt : null,
    merge_commit_sha: merged ? hex(40) : null,
    assignee: null,
    assignees: [],
    requested_reviewers: [user('jonas-lindqvist', 70_455_218)],
    requested_teams: [],
    labels: [],
    milestone: null,
    draft: false,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    comments_url: `${repositoryUrl}/issues/${number}/comments`,
    statuses_url: `${repositoryUrl}/statuses/${hex(40)}`,
    head: branch('harbour-time-zone'),
    base: branch('main'),
    author_association: 'MEMBER',
    merged,
    mergeable: merged ? null : true,
    mergeable_state: merged ? 'unknown' : 'clean',
    merged_by: merged ? user() : null,
    comments: 0,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: 2,
    additions: 48,
    deletions: 17,
    changed_files: 3,
  };
}

function branch(ref: string): Record<string, unknown> {
  const owner = user(OWNER, 48_113_902);
  return { label: `${OWNER}:${ref}`, ref, sha: hex(40), user: owner, repo: repository() };
}
