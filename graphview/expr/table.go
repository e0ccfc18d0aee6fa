package expr

import (
	"strings"
	"sync"

	"github.com/google/cel-go/interpreter"
)

// overloadBounds has the bound of each function and operator in the environments, by overload. A test
// fails if an overload is missing, so that new functions get a bound before they are allowed.
var overloadBounds = []struct {
	bound     bound
	overloads string
}{
	{boundAdding, "add_bytes add_list add_string"},
	{boundComparing, "equals not_equals"},
	{boundContains, "contains_string ends_with_string starts_with_string"},
	{boundDistinct, "list_distinct"},
	{boundElements, "list_reverse list_slice optional_unwrap optional_unwrapOpt"},
	{boundFinding, `
		list_a_index_of_int list_a_last_index_of_int list_includes_dyn_dyn string_index_of_string string_index_of_string_int
		string_last_index_of_string string_last_index_of_string_int`},
	{boundFindingAll, "string_find_all_string string_find_all_string_int"},
	{boundFlattening, "list_flatten list_flatten_int"},
	{boundFormatting, "string_format"},
	{boundIn, "in_list in_map"},
	{boundInserting, "@mapInsert_map_key_value @mapInsert_map_map"},
	{boundJoining, "list_join list_join_string"},
	{boundOrder, `
		greater_bytes greater_equals_bytes greater_equals_string greater_string less_bytes less_equals_bytes less_equals_string
		less_string`},
	{boundParsing, `
		cidr_contains_cidr cidr_contains_cidr_string cidr_contains_ip_ip cidr_contains_ip_string cidr_ip format-named ip_is_canonical
		is_cidr is_ip is_semver_string is_semver_string_bool is_url_string string_bool_to_semver string_to_bool string_to_cidr
		string_to_double string_to_duration string_to_int64 string_to_ip string_to_semver string_to_timestamp string_to_uint64
		string_to_url`},
	{boundQuantity, `
		is_quantity_string quantity_add quantity_add_int quantity_compare_to quantity_get_float quantity_get_int quantity_is_greater_than
		quantity_is_integer quantity_is_less_than quantity_sub quantity_sub_int semver_compare_to semver_is_greater_than
		semver_is_less_than string_to_quantity`},
	{boundRange, "lists_range"},
	{boundReading, "size_string string_size"},
	{boundRegex, "matches matches_string string_find_string"},
	{boundReplacing, "string_replace_string_string string_replace_string_string_int"},
	{boundSearching, "list_sets_contains_list list_sets_equivalent_list list_sets_intersects_list"},
	{boundSlowText, "format-validate"},
	{boundSorting, `
		list_bool_is_sorted_bool list_bool_max_bool list_bool_min_bool list_bool_sort list_bool_sortByAssociatedKeys
		list_bytes_is_sorted_bool list_bytes_max_bytes list_bytes_min_bytes list_bytes_sort list_bytes_sortByAssociatedKeys
		list_double_is_sorted_bool list_double_max_double list_double_min_double list_double_sort list_double_sortByAssociatedKeys
		list_double_sum_double list_duration_is_sorted_bool list_duration_max_duration list_duration_min_duration
		list_duration_sum_duration list_google.protobuf.Duration_sort list_google.protobuf.Duration_sortByAssociatedKeys
		list_google.protobuf.Timestamp_sort list_google.protobuf.Timestamp_sortByAssociatedKeys list_int_is_sorted_bool list_int_max_int
		list_int_min_int list_int_sort list_int_sortByAssociatedKeys list_int_sum_int list_string_is_sorted_bool list_string_max_string
		list_string_min_string list_string_sort list_string_sortByAssociatedKeys list_timestamp_is_sorted_bool
		list_timestamp_max_timestamp list_timestamp_min_timestamp list_uint_is_sorted_bool list_uint_max_uint list_uint_min_uint
		list_uint_sort list_uint_sortByAssociatedKeys list_uint_sum_uint`},
	{boundSplitting, "string_split_string string_split_string_int"},
	{boundText, `
		bytes_to_string string_char_at_int string_lower_ascii string_substring_int string_substring_int_int string_to_bytes string_trim
		string_upper_ascii strings_quote`},
	{boundURL, "url_get_escaped_path url_get_host url_get_hostname url_get_port url_get_query url_get_scheme"},
	{boundZone, `
		timestamp_to_day_of_month_1_based_with_tz timestamp_to_day_of_month_with_tz timestamp_to_day_of_week_with_tz
		timestamp_to_day_of_year_with_tz timestamp_to_hours_with_tz timestamp_to_milliseconds_with_tz timestamp_to_minutes_with_tz
		timestamp_to_month_with_tz timestamp_to_seconds_tz timestamp_to_year_with_tz`},
	// Their time and the size of their result do not depend on the arguments.
	{nil, `
		__not_strictly_false__ add_double add_duration_duration add_duration_timestamp add_int64 add_timestamp_duration add_uint64
		bool_to_bool bool_to_string bytes_size bytes_to_bytes cidr_masked cidr_prefix_length cidr_to_string conditional divide_double
		divide_int64 divide_uint64 double_to_double double_to_int64 double_to_string double_to_uint64 duration_to_duration
		duration_to_hours duration_to_int64 duration_to_milliseconds duration_to_minutes duration_to_seconds duration_to_string
		format.byte format.date format.datetime format.dns1035Label format.dns1035LabelPrefix format.dns1123Label
		format.dns1123LabelPrefix format.dns1123Subdomain format.dns1123SubdomainPrefix format.labelValue format.qualifiedName format.uri
		format.uuid greater_bool greater_double greater_double_int64 greater_double_uint64 greater_duration greater_equals_bool
		greater_equals_double greater_equals_double_int64 greater_equals_double_uint64 greater_equals_duration greater_equals_int64
		greater_equals_int64_double greater_equals_int64_uint64 greater_equals_timestamp greater_equals_uint64
		greater_equals_uint64_double greater_equals_uint64_int64 greater_int64 greater_int64_double greater_int64_uint64 greater_timestamp
		greater_uint64 greater_uint64_double greater_uint64_int64 int64_to_double int64_to_int64 int64_to_string int64_to_timestamp
		int64_to_uint64 ip_family ip_is_global_unicast ip_is_link_local_multicast ip_is_link_local_unicast ip_is_loopback
		ip_is_unspecified ip_to_string less_bool less_double less_double_int64 less_double_uint64 less_duration less_equals_bool
		less_equals_double less_equals_double_int64 less_equals_double_uint64 less_equals_duration less_equals_int64
		less_equals_int64_double less_equals_int64_uint64 less_equals_timestamp less_equals_uint64 less_equals_uint64_double
		less_equals_uint64_int64 less_int64 less_int64_double less_int64_uint64 less_timestamp less_uint64 less_uint64_double
		less_uint64_int64 list_first list_last list_size logical_and logical_not logical_or map_size modulo_int64 modulo_uint64
		multiply_double multiply_int64 multiply_uint64 negate_double negate_int64 not_strictly_false optional_hasValue optional_none
		optional_of optional_ofNonZeroValue optional_orValue_value optional_or_optional optional_value quantity_sign semver_major
		semver_minor semver_patch size_bytes size_list size_map string_to_string subtract_double subtract_duration_duration subtract_int64
		subtract_timestamp_duration subtract_timestamp_timestamp subtract_uint64 timestamp_to_day_of_month
		timestamp_to_day_of_month_1_based timestamp_to_day_of_week timestamp_to_day_of_year timestamp_to_hours timestamp_to_int64
		timestamp_to_milliseconds timestamp_to_minutes timestamp_to_month timestamp_to_seconds timestamp_to_string timestamp_to_timestamp
		timestamp_to_year to_dyn type uint64_to_double uint64_to_int64 uint64_to_string uint64_to_uint64`},
	// Only the index is charged for, see key.
	{nil, `
		@label_dyn_dyn index_list index_map list_optindex_optional_int map_optindex_optional_value optional_list_index_int
		optional_list_optindex_optional_int optional_map_index_value optional_map_optindex_optional_value select_optional_field`},
	// Marks of the planner.
	{nil, "@key_dyn @range_dyn @step_dyn"},
}

var boundsByOverload = sync.OnceValue(func() map[string]bound {
	all := make(map[string]bound)
	for _, row := range overloadBounds {
		for overload := range strings.FieldsSeq(row.overloads) {
			all[overload] = row.bound
		}
	}
	return all
})

// boundOf returns the bound of a call, or nil. If the overload is known only at run time, it returns
// that of any overload of the function: all overloads with a bound have the same one.
func (p *planner) boundOf(of interpreter.InterpretableCall) bound {
	if b, known := boundsByOverload()[of.OverloadID()]; known {
		return b
	}
	for _, overload := range p.functions[of.Function()].OverloadDecls() {
		if b := boundsByOverload()[overload.ID()]; b != nil {
			return b
		}
	}
	return nil
}
