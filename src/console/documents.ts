/**
 * Every document that Callsheet prints, posts or writes for programs, and the file below `schemas/` that describes
 * it. What a document is called stands in its `format`, beside its `version`.
 */
export const DOCUMENTS = {
  'callsheet-assumptions': 'assumptions',
  'callsheet-batch': 'batch',
  'callsheet-billing': 'read',
  'callsheet-call': 'read',
  'callsheet-calls': 'read',
  'callsheet-diagnostics': 'diagnostics',
  'callsheet-drift-notification': 'notification',
  'callsheet-error': 'error',
  'callsheet-events': 'events',
  'callsheet-export': 'export',
  'callsheet-features': 'read',
  'callsheet-field': 'field',
  'callsheet-fleet': 'fleet',
  'callsheet-history': 'read',
  'callsheet-history-diff': 'read',
  'callsheet-import': 'import',
  'callsheet-lock': 'state-commands',
  'callsheet-metrics': 'read',
  'callsheet-models': 'read',
  'callsheet-organizations': 'read',
  'callsheet-payments': 'read',
  'callsheet-plan': 'plan',
  'callsheet-pull': 'pull',
  'callsheet-receipt': 'runs',
  'callsheet-record': 'read',
  'callsheet-records': 'read',
  'callsheet-restoration': 'restoration',
  'callsheet-rollouts': 'rollouts',
  'callsheet-run': 'run',
  'callsheet-runs': 'runs',
  'callsheet-session': 'read',
  'callsheet-snapshot': 'snapshot',
  'callsheet-snapshot-resource': 'snapshot-commands',
  'callsheet-snapshot-summary': 'snapshot-commands',
  'callsheet-snapshots': 'snapshot-commands',
  'callsheet-state': 'state',
  'callsheet-state-edit': 'state-commands',
  'callsheet-state-list': 'state-commands',
  'callsheet-state-migration': 'state-commands',
  'callsheet-state-repair': 'state-commands',
  'callsheet-state-resource': 'state-commands',
  'callsheet-stt-providers': 'read',
  'callsheet-value': 'value',
} as const;

export type DocumentFormat = keyof typeof DOCUMENTS;

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Pipelines that `init` knows. Apart, as every start of the program names them. */
export const PIPELINES = ['none', 'github', 'gitlab'] as const;
export type Pipeline = (typeof PIPELINES)[number];
