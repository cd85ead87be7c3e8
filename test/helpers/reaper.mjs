import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

// Kills the processes with this line in their environment once standard input ends, which is held by the run of the tests.
const [, , line = ''] = process.argv;
const ROUNDS = 10;

function isMarked(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(line);
  } catch {
    // It has ended, or belongs to another user.
    return false;
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

async function reap() {
  // Several rounds, because a process may have been about to start another.
  for (let round = 0; round < ROUNDS; round += 1) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    for (const pid of pids.filter(isMarked)) kill(Number(pid));
    await sleep(100);
  }
}

process.stdin.resume().once('close', () => void reap());
