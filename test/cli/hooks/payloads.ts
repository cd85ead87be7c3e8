// What clients write to a hook's standard input.

/** Recorded from Claude Code 2.1.332. */
export function claudeCode(command: string) {
  return {
    session_id: '03a91fd8-9a27-466a-8003-fb037935e87d',
    transcript_path: '/home/ana/.claude/projects/shop/03a91fd8.jsonl',
    cwd: '/home/ana/shop',
    prompt_id: '559b9fda-f0c1-47a2-a9db-79762703bbf5',
    permission_mode: 'default',
    effort: { level: 'medium' },
    hook_event_name: 'PermissionRequest',
    tool_name: 'Bash',
    tool_input: { command, description: 'Make a file' },
    permission_suggestions: [
      { type: 'addDirectories', directories: ['/home/ana/shop'], destination: 'session' },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    ],
  };
}

/** By the schema permission-request.command.input of Codex. */
export function codex(command: string) {
  return {
    session_id: '0199a213-81c0-7800-8aa1-bbab2a035a53',
    turn_id: '1',
    transcript_path: null,
    cwd: '/home/ana/shop',
    hook_event_name: 'PermissionRequest',
    model: 'gpt-5.5-codex',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command },
  };
}

/** By the hooks reference of Gemini CLI. */
export function gemini(command: string) {
  return {
    session_id: '6f1c0f8e-2f0f-4a54-9d0f-5d7d1d6a1a11',
    transcript_path: '/home/ana/.gemini/tmp/shop/chats/session.json',
    cwd: '/home/ana/shop',
    hook_event_name: 'BeforeTool',
    timestamp: '2026-11-28T11:32:20.059Z',
    tool_name: 'run_shell_command',
    tool_input: { command },
  };
}

const CURSOR = {
  conversation_id: '668320d2-2fd8-4888-b33c-2a466fec86e7',
  generation_id: '490b90b7-a2ce-4c2c-bb76-cb77b125df2f',
  cursor_version: '2.0.77',
  workspace_roots: ['/home/ana/shop'],
};

/** By the hooks page of Cursor. */
export function cursorShell(command: string) {
  return { ...CURSOR, hook_event_name: 'beforeShellExecution', command, cwd: '/home/ana/shop' };
}

/** By the hooks page of Cursor, which writes the input as a text. */
export function cursorMcp(tool_name: string, input: object) {
  return {
    ...CURSOR,
    hook_event_name: 'beforeMCPExecution',
    tool_name,
    tool_input: JSON.stringify(input),
    url: 'https://db.example.com/mcp',
  };
}
