/** Where the words come from that complete a value. `nothing`: only whoever types it knows it. */
export type Source =
  | 'addresses'
  | 'agents'
  | 'environments'
  | 'explained'
  | 'files'
  | 'folders'
  | 'kinds'
  | 'knowledge_bases'
  | 'nothing'
  | 'organizations'
  | 'remembered'
  | 'runs'
  | 'variables';

/** Values of flags that have no choices of their own. A test holds this against the program. */
export const OF_FLAGS: { readonly [flag: string]: Source } = {
  '--accept': 'addresses',
  '--agent': 'nothing',
  '--agents': 'nothing',
  '--allow-env': 'nothing',
  '--base': 'files',
  '--base-url': 'nothing',
  '--call': 'nothing',
  '--calls': 'nothing',
  '--chaos-seed': 'nothing',
  '--claim': 'nothing',
  '--concurrency': 'nothing',
  '--config': 'files',
  '--dialect': 'nothing',
  '--diff': 'nothing',
  '--dir': 'folders',
  '--end': 'nothing',
  '--env': 'environments',
  '--events': 'files',
  '--exclude': 'addresses',
  '--expect': 'nothing',
  '--fault': 'nothing',
  '--from': 'files',
  '--heal-limit': 'nothing',
  '--identity': 'files',
  '--interval': 'nothing',
  '--knowledge-base': 'knowledge_bases',
  '--limit': 'nothing',
  '--listen': 'nothing',
  '--lock-timeout': 'nothing',
  '--map-knowledge-base': 'nothing',
  '--map-organization': 'nothing',
  '--media': 'folders',
  '--notify': 'nothing',
  '--organization': 'organizations',
  '--organizations': 'nothing',
  '--out': 'files',
  '--override-freeze': 'nothing',
  '--passphrase-file': 'files',
  '--port': 'nothing',
  '--profile': 'nothing',
  '--queue': 'nothing',
  '--rate-limit': 'nothing',
  '--recipient': 'nothing',
  '--resellers': 'nothing',
  '--report': 'nothing',
  '--reseller': 'nothing',
  '--resend-secrets': 'addresses',
  '--secrets': 'files',
  '--secrets-file': 'files',
  '--seed': 'files',
  '--shard': 'nothing',
  '--since': 'nothing',
  '--stacks': 'nothing',
  '--start': 'nothing',
  '--state': 'files',
  '--target': 'addresses',
  '--to': 'files',
  '--trace-http': 'files',
  '--until': 'nothing',
  '--user': 'nothing',
  '--var': 'variables',
  '--var-file': 'files',
};

/** Arguments that have no choices of their own, by their command and name. A test holds this against the program. */
export const OF_ARGUMENTS: { readonly [argument: string]: Source } = {
  'apply planfile': 'files',
  'enqueue plans': 'folders',
  'explain name': 'explained',
  'fmt files': 'files',
  'get kind': 'kinds',
  'get resource': 'addresses',
  'history agent': 'agents',
  'import address': 'addresses',
  'import id': 'nothing',
  'logs agent': 'agents',
  'payments agent': 'agents',
  'pull addresses': 'addresses',
  'rehearse planfile': 'files',
  'restore file': 'files',
  'rollback run': 'runs',
  'runs id': 'runs',
  'snapshot diff earlier': 'files',
  'snapshot diff later': 'files',
  'snapshot list folder': 'folders',
  'snapshot show file': 'files',
  'snapshot show resource': 'addresses',
  'ui planfile': 'files',
  'state list addresses': 'remembered',
  'state mv from': 'remembered',
  'state mv to': 'addresses',
  'state push file': 'files',
  'state rm addresses': 'remembered',
  'state trust addresses': 'remembered',
  'state show address': 'remembered',
  'state unlock lease': 'nothing',
};
