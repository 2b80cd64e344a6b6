from safear.mdp.arrays import MDP as MDP
from safear.mdp.compile import compile_mdp as compile_mdp
from safear.mdp.compiled import check_mdp as check_mdp
from safear.mdp.families import Family as Family
from safear.mdp.families import compile_blocks as compile_blocks
from safear.mdp.families import compile_families as compile_families
from safear.mdp.space import StateSpace as StateSpace
