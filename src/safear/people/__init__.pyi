from safear.people.counts import Population as Population
from safear.people.counts import read_population as read_population
from safear.people.lists import load_people as load_people
from safear.people.lists import read_people as read_people
