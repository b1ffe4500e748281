import { mutation } from './mutation.mjs';

export default mutation('way-back', ['src/rollback/**/*.ts', 'src/apply/recover*.ts']);
