import type { ExitName } from './exit.ts';

/** What is said of a command beside its description and its flags. */
type CommandWords = {
  /** As they are typed, the plainest first. */
  readonly examples: readonly string[];
  /** Everything that it can end with. */
  readonly exits: readonly ExitName[];
};

const OFFLINE: readonly ExitName[] = ['done', 'error'];
/** Commands that only read on the platform. */
const READING: readonly ExitName[] = ['done', 'error', 'interrupted'];
/** Commands that write on the platform, under the lock of the state. */
const WRITING: readonly ExitName[] = [
  'done',
  'error',
  'partial',
  'refused',
  'stale',
  'locked',
  'interrupted',
];
/** Commands that edit the state. They settle a run that died first, and ask the platform about it. */
const EDITING: readonly ExitName[] = ['done', 'error', 'refused', 'stale', 'locked', 'interrupted'];

const read = (...examples: readonly string[]): CommandWords => ({ examples, exits: READING });
const offline = (...examples: readonly string[]): CommandWords => ({ examples, exits: OFFLINE });
const edit = (...examples: readonly string[]): CommandWords => ({ examples, exits: EDITING });

/** By the words that a command is called with: `plan`, `state mv`. A test holds it against the program. */
export const COMMAND_WORDS: { readonly [command: string]: CommandWords } = {
  validate: {
    examples: [
      'callsheet validate',
      'callsheet validate --recursive --dir clinics',
      'callsheet validate --strict --format sarif > callsheet.sarif',
    ],
    exits: ['done', 'error', 'interrupted'],
  },
  init: {
    examples: [
      'callsheet init',
      'callsheet init --yes --organization harbor=3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11 --ci github',
    ],
    exits: ['done', 'error', 'interrupted'],
  },
  fmt: offline('callsheet fmt', 'callsheet fmt --check'),
  explain: offline(
    'callsheet explain agent.reception.greeting_message',
    'callsheet explain agent.voice_settings.speed',
    'callsheet explain guards.max_delete --format json',
  ),
  graph: offline(
    'callsheet graph',
    'callsheet graph --target agent.reception --format dot > graph.dot',
  ),
  ui: read('callsheet ui', 'callsheet ui plan.json --port 4020'),
  schema: offline('callsheet schema --out callsheet.schema.json'),
  completion: offline('source <(callsheet completion bash)'),
  plan: {
    examples: [
      'callsheet plan',
      'callsheet plan --out plan.json --format markdown',
      'callsheet plan --target agent.reception --detailed-exitcode',
      'callsheet plan --recursive --shard 2/4 --out plans',
    ],
    exits: ['done', 'error', 'changes', 'refused', 'interrupted'],
  },
  apply: {
    examples: [
      'callsheet apply plan.json',
      'callsheet apply --auto-approve --allow-delete',
      'callsheet apply plan.json --rollback-on-failure',
      'callsheet apply plans --recursive',
      'callsheet apply --auto-approve --override-freeze "wrong number in the greeting"',
    ],
    exits: WRITING,
  },
  rollback: {
    examples: [
      'callsheet rollback',
      'callsheet rollback --auto-approve --skip-refused',
      'callsheet rollback --to nightly.snapshot',
      'callsheet rollback 20261121t101203z-7f3a19 --target agent.reception',
      'callsheet rollback 7f3a19 --dry-run',
    ],
    exits: WRITING,
  },
  rehearse: {
    examples: [
      'callsheet rehearse plan.json',
      'callsheet rehearse --allow-delete --format markdown',
      'callsheet rehearse plan.json --from nightly.snapshot',
      'callsheet rehearse plan.json --fault 429 --fault lost --chaos-seed tuesday',
    ],
    exits: ['done', 'error', 'partial', 'refused', 'stale', 'interrupted'],
  },
  drift: {
    examples: [
      'callsheet drift',
      'callsheet drift --format markdown > drift.md',
      'CALLSHEET_NOTIFY_URL=… callsheet drift --detailed-exitcode --notify',
      'callsheet drift --accept agent.reception',
    ],
    exits: ['done', 'error', 'changes', 'refused', 'stale', 'interrupted'],
  },
  watch: {
    examples: [
      'callsheet watch',
      'callsheet watch --interval 1m --heal --notify',
      'CALLSHEET_HOOK_SECRET=… callsheet watch --listen 0.0.0.0:9464 --log json',
    ],
    exits: ['done', 'error', 'interrupted'],
  },
  pull: {
    examples: [
      'callsheet pull --dry-run',
      'callsheet pull agent.reception',
      'callsheet pull --skip-refused --theirs',
      'callsheet pull --new agent --dry-run',
    ],
    exits: ['done', 'error', 'refused', 'stale', 'interrupted'],
  },
  runs: offline('callsheet runs', 'callsheet runs --format json'),
  'state list': offline('callsheet state list', 'callsheet state list agent'),
  'state show': offline('callsheet state show agent.reception'),
  'state pull': offline('callsheet state pull > state.json'),
  'state mv': edit('callsheet state mv agent.front agent.reception'),
  'state rm': edit('callsheet state rm agent.reception'),
  'state trust': edit('callsheet state trust --dry-run', 'callsheet state trust agent.reception'),
  'state push': edit('callsheet state push state.json'),
  'state unlock': {
    examples: ['callsheet state unlock'],
    exits: ['done', 'error', 'locked'],
  },
  'state migrate': edit('callsheet state migrate --to s3://voice-states/production/state.json'),
  'state repair': {
    examples: ['callsheet state repair'],
    exits: ['done', 'error', 'stale', 'locked', 'interrupted'],
  },
  'snapshot create': read(
    'callsheet snapshot create',
    'callsheet snapshot create --out nightly.snapshot --passphrase-file key.txt',
    'callsheet snapshot create --organization harbor --recipient age1…',
  ),
  'snapshot list': offline('callsheet snapshot list backups'),
  'snapshot show': offline(
    'callsheet snapshot show nightly.snapshot',
    'callsheet snapshot show nightly.snapshot agent.reception',
  ),
  'snapshot diff': {
    examples: [
      'callsheet snapshot diff monday.snapshot tuesday.snapshot',
      'callsheet snapshot diff monday.snapshot tuesday.snapshot --format markdown',
    ],
    exits: ['done', 'error', 'changes'],
  },
  restore: {
    examples: [
      'callsheet restore nightly.snapshot --dry-run',
      'callsheet restore nightly.snapshot --secrets secrets.yaml --media media',
      'callsheet restore nightly.snapshot --map-organization harbor=marina --map-texts',
    ],
    exits: WRITING,
  },
  export: {
    examples: [
      'callsheet export --out fleet',
      'callsheet export --out fleet --organization harbor --factor',
      'callsheet export --out fleet --knowledge-base faq=0d0e7c52-6d0a-4a53-9a4e-0a1f5a6f2b11',
    ],
    exits: ['done', 'error', 'refused', 'interrupted'],
  },
  import: {
    examples: [
      'callsheet import agent.reception 7d0c6f1e-54a3-4b0e-9b1c-2f6d8e9a0b11',
      'callsheet import --all',
    ],
    exits: ['done', 'error', 'partial', 'refused', 'stale', 'locked', 'interrupted'],
  },
  assumptions: offline('callsheet assumptions'),
  get: {
    examples: [
      'callsheet get agents --organization harbor',
      'callsheet get agents agent.reception --format json',
      'callsheet get knowledge_sources --knowledge-base harbor',
    ],
    // It lists kinds whose endpoints are assumed, which platform.assume can forbid.
    exits: ['done', 'error', 'refused', 'interrupted'],
  },
  history: read(
    'callsheet history agent.reception --limit 10',
    'callsheet history agent.reception --diff 41 43',
  ),
  payments: read('callsheet payments agent.reception --refresh'),
  logs: read(
    'callsheet logs agent.reception --since 7d --summary',
    'callsheet logs "Front desk" --call 7c346549 --transcript',
  ),
  metrics: read('callsheet metrics --since 30d', 'callsheet metrics --block totals --format csv'),
  billing: read('callsheet billing --start 2026-10-01 --end 2026-10-31 --format csv'),
  features: read('callsheet features --organization harbor --locked'),
  models: read('callsheet models --organization harbor'),
  stt: read('callsheet stt'),
  voices: read('callsheet voices --organization harbor'),
  session: read('callsheet session --profile 2f6d8e9a-0b11-4b0e-9b1c-7d0c6f1e54a3'),
  enqueue: {
    examples: [
      'callsheet enqueue plan --queue postgres://callsheet@db.example.test/queue --wait --out plans',
      'callsheet enqueue apply plans --wait',
      'callsheet enqueue apply --auto-approve',
      'callsheet enqueue --report 20261121t101203z-7f3a19',
    ],
    exits: ['done', 'error', 'changes', 'partial', 'refused', 'stale', 'locked', 'interrupted'],
  },
  worker: offline(
    'callsheet worker --queue postgres://callsheet@db.example.test/queue',
    'callsheet worker --until-empty --stacks 8 --concurrency 16',
  ),
  simulate: offline(
    'callsheet simulate --agents 20',
    'callsheet simulate --resellers 3 --organizations 12 --agents 500 --calls 5000',
  ),
};
