import { ServiceError } from '../../shared/lib/errors.ts';
import type { ControlStore } from '../store/control-store.ts';
import type { MovingProject, Transition } from '../store/control/moves.ts';
import { importReceipt } from './import-receipt.ts';
import type { Projects } from '../projects/projects.ts';
import { othersHint } from './others-hint.ts';
import { namedProject } from './named-project.ts';

interface MigrationDeps {
  readonly control: ControlStore;
  readonly projects: Projects;
}

interface Leaving {
  /** The address of the other gateway. */
  readonly to: string | null;
  /** What the import there printed: see `importReceipt`. */
  readonly receipt: string | null;
}

/** The result of an order about a project's location. */
export interface TransitionResult {
  readonly project: { readonly id: string; readonly slug: string; readonly name: string };
  readonly state: 'active' | 'held' | 'moved';
  /** Where it moved; null if it's here or nobody said where. */
  readonly moved_to: string | null;
  /** False if nothing changed. */
  readonly changed: boolean;
}

/** Moves projects between gateways. */
export class MigrationService {
  readonly #deps: MigrationDeps;

  constructor(deps: MigrationDeps) {
    this.#deps = deps;
  }

  /** Makes a project read-only. Resolves when writes under way are done. */
  hold(name: string): Promise<TransitionResult> {
    return this.#order(name, { state: 'held', to: null }, (id) => this.#deps.projects.hold(id));
  }

  /** `alsoMoved`: the operator says that nothing arrived where it was to move. */
  release(name: string, alsoMoved = false): Promise<TransitionResult> {
    return this.#order(name, { state: 'active', to: null }, (id) =>
      this.#deps.projects.release(id, alsoMoved),
    );
  }

  /**
   * Closes a read-only project for good: it's now at the gateway with this address, if one is given. PRECONDITION_FAILED if
   * the receipt belongs to another copy. Without a receipt, the operator vouches for the copy.
   */
  leave(name: string, { to, receipt }: Leaving): Promise<TransitionResult> {
    return this.#order(name, { state: 'moved', to }, async (id) => {
      if (receipt !== null) await this.#refuseOther(id, receipt);
      return this.#deps.projects.moveAway(id, to);
    });
  }

  /**
   * Adds a project whose database and blobs are in place. `store` is the fingerprint of their location.
   * PRECONDITION_FAILED if this gateway looks elsewhere, or if its id or slug is taken.
   */
  async adopt(moving: MovingProject, store: string): Promise<TransitionResult> {
    if (store !== this.#deps.projects.storeFingerprint) {
      throw new ServiceError('PRECONDITION_FAILED', {
        hint: 'This gateway keeps its databases elsewhere. Run the command with the same SVC_DATABASE_URL or the same configuration file.',
        details: { other: 'store' },
      });
    }
    const { id, slug, name } = moving.project;
    const adopted = await this.#deps.projects.add(moving);
    if (adopted === 'adopted') {
      return { project: { id, slug, name }, state: 'active', moved_to: null, changed: true };
    }
    const what = adopted === 'id_taken' ? `the id ${id}` : `the slug ${slug}`;
    throw new ServiceError('PRECONDITION_FAILED', {
      hint: `Another project of this gateway has ${what}.`,
      details: { taken: adopted === 'id_taken' ? 'id' : 'slug' },
    });
  }

  /** Checks only a project on hold: `moveAway` deals with all others. */
  async #refuseOther(id: string, receipt: string): Promise<void> {
    const { control, projects } = this.#deps;
    if ((await control.findProject(id))?.state !== 'held') return;
    const project = await projects.find(id);
    const head = await project?.store.read((store) => store.ledger.head());
    if (receipt === importReceipt(id, head ?? null)) return;
    throw new ServiceError('PRECONDITION_FAILED', {
      hint: `That's the receipt of another copy: here the ledger ends with entry ${head?.seq ?? 0}. Import the newest export at the other gateway, and give the receipt that it prints.`,
      details: { ledger_seq: head?.seq ?? 0 },
    });
  }

  async #order(
    name: string,
    { state, to }: { readonly state: TransitionResult['state']; readonly to: string | null },
    order: (projectId: string) => Promise<Transition>,
  ): Promise<TransitionResult> {
    const { id, slug, name: title } = await namedProject(this.#deps.control, name);
    const transitioned = await order(id);
    if ('others' in transitioned) throw notAlone(transitioned.others);
    if ('refused' in transitioned) throw refusal(slug, transitioned.refused);
    return {
      project: { id, slug, name: title },
      state,
      moved_to: to,
      changed: transitioned.changed,
    };
  }
}

function notAlone(others: number): ServiceError {
  return new ServiceError('PRECONDITION_FAILED', {
    hint: othersHint(others),
    details: { other_gateways: others },
  });
}

type RefusalReason = Extract<Transition, { refused: unknown }>['refused'];

const WHY: Readonly<Record<RefusalReason, (slug: string) => string>> = {
  missing: () => 'It is still being created.',
  active: (slug) =>
    `It isn't on hold, so the copy may miss later writes. See: svc gateway export ${slug} FOLDER --hold`,
  held: () => 'It is on hold.',
  moved: (slug) =>
    `It has moved to another gateway, where it may have changed since. If nothing arrived there, because the import failed: svc gateway project release ${slug} --not-moved`,
};

function refusal(slug: string, refused: RefusalReason): ServiceError {
  return new ServiceError('PRECONDITION_FAILED', { hint: WHY[refused](slug) });
}
